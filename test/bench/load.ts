import autocannon from "autocannon";
import type { Request } from "autocannon";
import type { LoadRequest } from "../features/webhooks/load.ts";

export interface Load {
  /** Answered requests a second. */
  readonly rate: number;
  /** Latency of each answer, in ms. */
  readonly latencies: readonly number[];
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends all requests, each once, over so many connections. */
export async function sendAll(
  server: string,
  requests: readonly LoadRequest[],
  connections: number,
): Promise<Load> {
  let next = 0;
  const setupRequest = (request: Request): Request => {
    const { path, headers, body } = requests[next++ % requests.length] as LoadRequest;
    return { ...request, path, headers: { ...headers }, body };
  };
  // An address: names would be looked up.
  const url = server.replace("localhost", "127.0.0.1");
  const each = [{ method: "POST", setupRequest } as const];
  const options = { url, connections, amount: requests.length, requests: each, timeout: 60 };
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  const began = performance.now();
  let last = began;
  await new Promise<void>((resolve, reject) => {
    const load = autocannon(options, (error: Error | null) =>
      error === null ? resolve() : reject(error),
    );
    load.on("response", (_client, status, _bytes, ms) => {
      last = performance.now();
      latencies.push(ms);
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
  });
  return { rate: (latencies.length * 1000) / (last - began), latencies, statuses };
}
