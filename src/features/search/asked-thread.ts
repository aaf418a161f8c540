import { once } from "node:events";
import type { Worker } from "node:worker_threads";

/** A thread that answers one request after the other, and is there while it is asked. */
export interface AskedThread<Request, Answer> {
  /** Rejects when the thread ends, or the signal aborts. */
  ask(request: Request, signal?: AbortSignal): Promise<Answer>;
  /** Ends the thread. The next request has another. */
  end(): Promise<unknown>;
  /** Ends it for good. */
  close(): Promise<unknown>;
}

/** Starts the thread with the first request, and ends it when there was none for `idleMs`. */
export function askedThread<Request, Answer>(
  start: () => Promise<Worker>,
  idleMs: number,
): AskedThread<Request, Answer> {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const end = (): Promise<unknown> => {
    clearTimeout(idle);
    const ended = thread?.terminate() ?? Promise.resolve();
    thread = null;
    return ended;
  };
  const started = async (): Promise<Worker> => {
    const worker = await start();
    worker.on("error", () => undefined);
    // One that ended while it was idle would answer nothing.
    worker.once("exit", () => {
      if (thread === worker) thread = null;
    });
    thread = worker;
    if (isClosed) await end();
    return worker;
  };

  return {
    ask: async (request, signal) => {
      clearTimeout(idle);
      const worker = thread ?? (await started());
      if (isClosed) throw new Error("its thread ended");
      try {
        return await answerTo(request, worker, signal);
      } finally {
        idle = setTimeout(() => void end(), idleMs).unref();
      }
    },
    end,
    close: () => {
      isClosed = true;
      return end();
    },
  };
}

async function answerTo<Answer>(
  request: unknown,
  worker: Worker,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const ended = new AbortController();
  const onExit = (): void => ended.abort(new Error("its thread ended"));
  worker.once("exit", onExit);
  try {
    const signals = [ended.signal, ...(signal === undefined ? [] : [signal])];
    const answer = once(worker, "message", { signal: AbortSignal.any(signals) });
    worker.postMessage(request);
    const [message] = (await answer) as [Answer];
    return message;
  } finally {
    worker.off("exit", onExit);
  }
}
