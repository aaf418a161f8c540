import { filter, firstValueFrom, fromEvent, Subject, takeUntil } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import type { InboxMessage } from "../../foundation/contracts/questions.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { InboxStore, NewMessage } from "./inbox-store.ts";

interface InboxDeps {
  readonly store: InboxStore;
  readonly clock: Clock;
  readonly redactValue: Redactor["redactValue"];
  /** A run has received a delivery that waited in its queue. */
  readonly onTaken: (taken: { readonly agent: string; readonly itemId: string }) => void;
}

/** Messages of people and deliveries to live runs: durable, and received by each run in their order. */
export function createInbox({ store, clock, redactValue, onTaken }: InboxDeps) {
  const added$ = new Subject<string>();
  return {
    /** Stores a message; null if the run's session has ended. Rejects with Problem `refused` if too many are waiting. */
    add: async ({ text, ...rest }: NewMessage): Promise<InboxMessage | null> => {
      const added = await store.add({ ...rest, text: redactValue(text), at: clock.now() });
      if (added !== null) added$.next(rest.instanceId);
      return added;
    },
    ofRun: store.ofRun,
    /**
     * Resolves to the messages after `seq`, once there is one; empty if the signal aborts first. The run has received
     * the messages up to `seq`.
     */
    next: async (
      instanceId: string,
      seq: number,
      signal: AbortSignal,
    ): Promise<readonly InboxMessage[]> => {
      if (seq > 0) (await store.received(instanceId, seq, clock.now())).forEach(onTaken);
      const found = store.after(instanceId, seq);
      if (found.length > 0 || signal.aborted) return found;
      const added = added$.pipe(
        filter((id) => id === instanceId),
        takeUntil(fromEvent(signal, "abort")),
      );
      await firstValueFrom(added, { defaultValue: null });
      return store.after(instanceId, seq);
    },
    /** Resolves to the messages after `seq`; without any, the run's session ends. */
    last: async (instanceId: string, seq: number): Promise<readonly InboxMessage[]> => {
      const { taken, found } = await store.last(instanceId, seq, clock.now());
      taken.forEach(onTaken);
      return found;
    },
    waiting: store.waiting,
    putBack: store.putBack,
    end: store.end,
    isOver: store.isOver,
  };
}

export type Inbox = ReturnType<typeof createInbox>;
