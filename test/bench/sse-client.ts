import { get } from "node:http";
import type { TestScheduler } from "../helpers/scheduler.ts";

/** A client of one of the scheduler's event streams. */
export interface SseClient {
  /** Resolves with the first event whose data has all these words, that came after this was called; rejects after 30 s. */
  waitFor(...words: readonly string[]): Promise<{ readonly at: number; readonly bytes: number }>;
  /** The events so far. */
  events(): number;
  bytes(): number;
  close(): void;
}

interface Waiting {
  readonly words: readonly string[];
  readonly resolve: (seen: { at: number; bytes: number }) => void;
}

const patienceMs = 30_000;

/** Opens a stream; resolves when its first event is there. Times are of `performance.now()`. */
export function openSse(
  { url, apiKey }: Pick<TestScheduler, "url" | "apiKey">,
  path: string,
): Promise<SseClient> {
  const waiting = new Set<Waiting>();
  let [events, bytes] = [0, 0];
  const see = (event: string): void => {
    const at = performance.now();
    events += 1;
    for (const one of waiting) {
      if (!one.words.every((word) => event.includes(word))) continue;
      waiting.delete(one);
      one.resolve({ at, bytes: Buffer.byteLength(event) });
    }
  };
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const address = url.replace("localhost", "127.0.0.1") + path;
    const request = get(address, { headers, agent: false }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        bytes += Buffer.byteLength(chunk);
        const parts = (rest + chunk).split("\n\n");
        rest = parts.pop() ?? "";
        for (const event of parts) see(event);
      });
      response.on("error", () => undefined);
      resolve({
        waitFor: (...words) =>
          new Promise((seen, missed) => {
            const late = (): void => missed(new Error(`no event of ${path} has ${words.join()}`));
            const timer = setTimeout(late, patienceMs);
            const resolve: Waiting["resolve"] = (event) => (clearTimeout(timer), seen(event));
            waiting.add({ words, resolve });
          }),
        events: () => events,
        bytes: () => bytes,
        close: () => request.destroy(),
      });
    });
    request.on("error", reject);
  });
}
