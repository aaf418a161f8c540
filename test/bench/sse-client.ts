import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { TestScheduler } from "../helpers/scheduler.ts";

type Server = Pick<TestScheduler, "url" | "apiKey">;

/** Something that a stream tells its clients, and the words by which they know it. */
export interface Change {
  readonly words: readonly string[];
  readonly make: () => Promise<unknown>;
}

/** The nth change of the bare stream. */
export function changeOf({ url }: Server, n: number): Change {
  const make = () => fetch(`${url}/change/change-${n}`, { method: "POST" });
  return { words: [`change-${n} `], make };
}

const patienceMs = 30_000;

/** A client of an event stream; resolves when the response has begun. Times are of `performance.now()`. */
export async function openSse({ url, apiKey }: Server, path: string) {
  const waiting = new Set<(event: string, at: number) => void>();
  let [events, bytes, rest] = [0, 0, ""];
  const headers = { authorization: `Bearer ${apiKey}` };
  const address = url.replace("localhost", "127.0.0.1") + path;
  const request = get(address, { headers, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  request.on("error", () => undefined);
  response.setEncoding("utf8").on("error", () => undefined);
  response.on("data", (chunk: string) => {
    bytes += Buffer.byteLength(chunk);
    const parts = (rest + chunk).split("\n\n");
    rest = parts.pop() ?? "";
    for (const event of parts) {
      events += 1;
      for (const see of waiting) see(event, performance.now());
    }
  });
  return {
    /** Resolves with the first event whose data has all these words, that came after this was called; rejects after 30 s. */
    waitFor: (...words: readonly string[]) =>
      new Promise<{ readonly at: number }>((resolve, reject) => {
        const deadline = AbortSignal.timeout(patienceMs);
        const late = () => reject(new Error(`no event of ${path} has ${words.join()}`));
        deadline.addEventListener("abort", late);
        const see = (event: string, at: number): void => {
          if (!words.every((word) => event.includes(word))) return;
          waiting.delete(see);
          deadline.removeEventListener("abort", late);
          resolve({ at });
        };
        waiting.add(see);
      }),
    /** The events so far. */
    events: () => events,
    bytes: () => bytes,
    close: () => void request.destroy(),
  };
}

export type SseClient = Awaited<ReturnType<typeof openSse>>;
