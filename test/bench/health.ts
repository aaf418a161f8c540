import { Agent, get } from "node:http";

const everyMs = 5;

/** Asks `/health` every 5 ms, whether or not the last one is answered, until something is done; each latency in ms. */
export async function askHealth(
  url: string,
  during: () => Promise<unknown>,
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const address = `${url.replace("localhost", "127.0.0.1")}/health`;
  const asked: Promise<number>[] = [];
  const timer = setInterval(() => asked.push(answered(agent, address)), everyMs);
  try {
    await during();
  } finally {
    clearInterval(timer);
  }
  const latencies = await Promise.all(asked);
  agent.destroy();
  return latencies;
}

function answered(agent: Agent, address: string, began = performance.now()): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(address, { agent }, (response) => {
      response.resume().once("end", () => resolve(performance.now() - began));
    });
    request.once("error", (error) => {
      // The server closed an idle connection just as it was used again.
      if (request.reusedSocket) resolve(answered(agent, address, began));
      else reject(error);
    });
  });
}
