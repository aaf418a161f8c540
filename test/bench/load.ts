import autocannon from "autocannon";
import type { Options, Request } from "autocannon";
import type { LoadRequest } from "../features/webhooks/load.ts";

export interface Load {
  /** Answered requests a second. */
  readonly rate: number;
  /** Latency of each answer, in ms. */
  readonly latencies: readonly number[];
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends all requests, each once, over so many connections. `url` names an address, not a host to look up. */
export function sendAll(
  url: string,
  requests: readonly LoadRequest[],
  connections: number,
): Promise<Load> {
  let next = 0;
  const setupRequest = (request: Request): Request => {
    const one = requests[next++ % requests.length];
    return { ...request, path: one?.path, headers: { ...one?.headers }, body: one?.body };
  };
  const each = [{ method: "POST", setupRequest } as const];
  return measured({ url, connections, amount: requests.length, requests: each });
}

/** Requests one address so many times. */
export function getAll(url: string, count: number, connections: number): Promise<Load> {
  return measured({ url, connections, amount: count });
}

async function measured(options: Options): Promise<Load> {
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  const began = performance.now();
  let last = began;
  await new Promise<void>((resolve, reject) => {
    const load = autocannon({ ...options, timeout: 60 }, (error: Error | null) =>
      error === null ? resolve() : reject(error),
    );
    const answered = (status: number, ms: number): void => {
      last = performance.now();
      latencies.push(ms);
      statuses[status] = (statuses[status] ?? 0) + 1;
    };
    load.on("response", (_client, status, _bytes, ms) => answered(status, ms));
  });
  return { rate: (latencies.length * 1000) / (last - began), latencies, statuses };
}
