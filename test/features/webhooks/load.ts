import { Agent, request } from "node:http";

/** One request of a load: made before the clock starts. */
export interface LoadRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The response. `status` is null when the connection broke before an answer came. */
export interface LoadAnswer {
  /** Place of its request in the list. */
  readonly index: number;
  readonly status: number | null;
  readonly text: string;
  /** From the first byte sent to the last one read. */
  readonly ms: number;
}

/** Sends all requests over so many kept connections, each with the next as soon as it is answered. */
export async function sendLoad(
  url: string,
  requests: readonly LoadRequest[],
  connections: number,
  onAnswer: (answer: LoadAnswer) => void = () => undefined,
): Promise<readonly LoadAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  // Looking a name up takes turns in a few threads: seconds for the last connection of a burst.
  const address = url.replace("localhost", "127.0.0.1");
  const answers: LoadAnswer[] = [];
  let next = 0;
  const sendOn = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const one = requests[index];
      if (one === undefined) return;
      const answer = { index, ...(await sendOne(agent, address, one)) };
      answers.push(answer);
      onAnswer(answer);
    }
  };
  await Promise.all(Array.from({ length: connections }, sendOn));
  agent.destroy();
  return answers;
}

function sendOne(
  agent: Agent,
  url: string,
  { path, headers, body }: LoadRequest,
): Promise<Omit<LoadAnswer, "index">> {
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (status: number | null, text: string) =>
      resolve({ status, text, ms: performance.now() - started });
    const sent = request(`${url}${path}`, {
      agent,
      method: "POST",
      headers: { ...headers, "content-length": String(body.length) },
    });
    sent.on("error", (error) => done(null, error.message));
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", (error) => done(null, error.message));
      response.on("end", () => done(response.statusCode ?? null, text));
    });
    sent.end(body);
  });
}
