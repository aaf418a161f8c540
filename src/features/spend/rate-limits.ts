import { FairQueue } from "../../foundation/contracts/fair-queue.ts";

/** A call that asks for its turn. */
export interface RateLimitedCall {
  readonly model: string;
  /** Null without a limit. */
  readonly perMinute: number | null;
  /** Waiting runs take turns. */
  readonly instanceId: string;
}

interface Model {
  perMinute: number;
  /** When the calls of the last minute began, ms of `monotonic`. */
  starts: number[];
  /** Functions that begin the waiting calls. */
  readonly waiting: FairQueue<() => void>;
  timer: NodeJS.Timeout | null;
}

const minuteMs = 60_000;
/** Clients give up after ten minutes without a byte, and the model needs time of its own. */
const longestWaitMs = 300_000;

/** `monotonic` returns ms that clock changes don't affect. */
export function createRateLimits(monotonic = () => performance.now()) {
  const models = new Map<string, Model>();

  const drain = (model: Model): void => {
    if (model.timer !== null) clearTimeout(model.timer);
    model.timer = null;
    while (model.waiting.size > 0) {
      const delayMs = delayOf(model, monotonic());
      if (delayMs > 0) {
        model.timer = setTimeout(() => drain(model), Math.ceil(delayMs));
        return;
      }
      model.starts.push(monotonic());
      model.waiting.take()?.();
    }
  };
  const modelOf = (name: string, perMinute: number): Model => {
    const model = models.get(name) ?? {
      perMinute,
      starts: [],
      waiting: new FairQueue(),
      timer: null,
    };
    model.perMinute = perMinute;
    models.set(name, model);
    return model;
  };
  const wait = (model: Model, instanceId: string, signal: AbortSignal): Promise<null> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        model.waiting.delete(instanceId, start);
        reject(signal.reason as Error);
        drain(model);
      };
      const start = (): void => {
        signal.removeEventListener("abort", abort);
        resolve(null);
      };
      signal.addEventListener("abort", abort, { once: true });
      model.waiting.add(instanceId, start);
      drain(model);
    });
  return {
    /**
     * Resolves with null when it is the call's turn, or at once with the ms before a retry if the wait would be too
     * long. Calls `onWait` with the estimated wait in ms. Rejects with the reason of `signal`.
     */
    turn: async (
      { model: name, perMinute, instanceId }: RateLimitedCall,
      signal: AbortSignal,
      onWait?: (waitMs: number) => void,
    ): Promise<number | null> => {
      signal.throwIfAborted();
      if (perMinute === null) return null;
      const model = modelOf(name, perMinute);
      const minutes = Math.floor(model.waiting.ahead(instanceId) / perMinute);
      const waitMs = delayOf(model, monotonic()) + minutes * minuteMs;
      if (waitMs > longestWaitMs) return Math.ceil(waitMs - longestWaitMs);
      if (waitMs > 0) onWait?.(waitMs);
      return wait(model, instanceId, signal);
    },
  };
}

/** How long it is until one more call may begin, in ms. */
function delayOf(model: Model, now: number): number {
  model.starts = model.starts.filter((at) => now - at < minuteMs);
  const { starts, perMinute } = model;
  const freed = starts[starts.length - perMinute];
  return freed === undefined ? 0 : freed + minuteMs - now;
}
