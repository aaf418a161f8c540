import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Observable, share } from "rxjs";
import { messageOf } from "../../errors.ts";
import { unlessAborted } from "./abortable.ts";
import { isUnreachable } from "./engine.ts";
import type { Engine } from "./engine.ts";

/** So that an engine which ends every connection at once is not asked all the time, in ms. */
const pauseMs = 1000;

/**
 * Emits once, and completes, when the engine went away. Nobody asks it time and again: the end of a connection that
 * it keeps open makes this look. All who listen at the same time share that connection. Never errors; an engine that
 * allows no such connection is not watched.
 */
export function engineLoss(engine: Engine): Observable<"gone"> {
  return new Observable<"gone">((subscriber) => {
    const left = new AbortController();
    subscriber.add(() => left.abort());
    untilGone(engine, left.signal).then(
      () => {
        subscriber.next("gone");
        subscriber.complete();
      },
      (error: unknown) => {
        if (!left.signal.aborted)
          process.emitWarning(`the container engine is not watched: ${messageOf(error)}`);
      },
    );
  }).pipe(share());
}

async function untilGone(engine: Engine, left: AbortSignal): Promise<void> {
  for (;;) {
    await connectionEnd(engine, left);
    left.throwIfAborted();
    try {
      await engine.ping();
    } catch {
      return;
    }
    await unlessAborted(wait(pauseMs), left);
    left.throwIfAborted();
  }
}

/** Resolves when the engine's stream of events ends; it is asked for none, only for the connection. */
async function connectionEnd(engine: Engine, left: AbortSignal): Promise<void> {
  const filters = { label: ["al.nothing"] };
  try {
    const events = await engine.streams().getEvents({ filters, abortSignal: left });
    events.on("error", () => undefined);
    const ended = once(events.resume(), "close");
    await unlessAborted(ended, left);
    // Its end is all that its reader has: the common type does not say that it can be ended.
    (events as { destroy?: () => void }).destroy?.();
  } catch (error) {
    if (!isUnreachable(error)) throw error;
  }
}
