import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Observable, share } from "rxjs";
import { messageOf } from "../../../foundation/errors.ts";
import { unlessAborted } from "../as-run.ts";
import { isUnreachable, type Engine } from "./engine.ts";

/** Pause between requests to an engine that ends every connection at once, in ms. */
const pauseMs = 1000;

/** A change of the engine: an image or a name of one was removed, or the engine went away. */
export type EngineChange = "image-removed" | "gone";

/**
 * Emits "image-removed" when images are removed from the engine, then "gone" once the engine is away, and completes. The
 * engine reports removals over an open connection; when that ends, the engine is pinged. Concurrent subscribers share
 * the connection. Never errors; an engine that refuses the connection is not watched.
 */
export function engineChanges(engine: Engine): Observable<EngineChange> {
  return new Observable<EngineChange>((subscriber) => {
    const left = new AbortController();
    subscriber.add(() => left.abort());
    untilGone(engine, left.signal, () => subscriber.next("image-removed")).then(
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

async function untilGone(engine: Engine, left: AbortSignal, onRemoved: () => void): Promise<void> {
  for (;;) {
    await connectionEnd(engine, left, onRemoved);
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

/** Docker's and Podman's names for the event. */
const removals = { type: ["image" as const], event: ["delete", "untag", "remove"] };

/** Resolves when the engine's stream of events ends. */
async function connectionEnd(
  engine: Engine,
  left: AbortSignal,
  onRemoved: () => void,
): Promise<void> {
  try {
    const events = await engine.streams().getEvents({ filters: removals, abortSignal: left });
    events.on("error", () => undefined);
    // The filter lets only removals through.
    events.on("data", onRemoved);
    const ended = once(events, "close");
    await unlessAborted(ended, left);
    // The stream is destroyed, as its reader needs only its end; the common type lacks `destroy`.
    (events as { destroy?: () => void }).destroy?.();
  } catch (error) {
    if (!isUnreachable(error)) throw error;
  }
}
