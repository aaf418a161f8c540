import autocannon from "autocannon";
import type { LoadRequest } from "../webhooks/load.ts";

export interface Load {
  /** Answered requests a second. */
  readonly rate: number;
  /** Latency in ms. */
  readonly median: number;
  readonly p99: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends all requests, each once, over so many connections. `url` names an address, not a host to look up. */
export async function sendAll(
  url: string,
  requests: readonly LoadRequest[],
  connections: number,
): Promise<Load> {
  let next = 0;
  const statuses: Record<string, number> = {};
  const result = await autocannon({
    url,
    connections,
    amount: requests.length,
    timeout: 60,
    requests: [
      {
        method: "POST",
        setupRequest: (request) => {
          const one = requests[next++ % requests.length];
          return { ...request, path: one?.path, headers: { ...one?.headers }, body: one?.body };
        },
        onResponse: (status) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
        },
      },
    ],
  });
  const seconds = (result.finish.getTime() - result.start.getTime()) / 1000;
  const { p50, p99 } = result.latency;
  return { rate: requests.length / seconds, median: p50, p99, statuses };
}
