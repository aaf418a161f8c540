import { v7 as uuidV7 } from "uuid";
import type { Clock } from "../../../streams/clock.ts";
import type { AlertStore } from "./alert-store.ts";
import type { StoredDelivery } from "./rules/alert.ts";
import { digestOf, digestParts, isFirst, mostMessages, windowMs } from "./rules/digest.ts";

/** Chooses the next message for one target, from five messages a minute. `startedAt` of the sender, epoch ms. */
export function createPace(store: AlertStore, clock: Clock, startedAt: number) {
  /** Times of the messages within the last minute. */
  const messages: number[] = [];
  /** True before the first attempt. */
  let isNew = true;

  /** Stores one digest in place of several deliveries. */
  const joined = async (
    parts: readonly StoredDelivery[],
    target: string,
  ): Promise<StoredDelivery> => {
    const at = clock.now();
    const alerts = parts.map(({ alert }) => alert);
    const digest = { id: uuidV7(), at, target, alert: digestOf(alerts, at), nextAt: at };
    await store.replace(
      parts.map(({ id }) => id),
      digest,
    );
    return {
      ...digest,
      state: "waiting",
      attempts: 0,
      lastError: null,
      endedAt: null,
      receipt: null,
    };
  };
  return {
    /** The delivery to send now, of those that are due; undefined while all are held. */
    choose: async (
      due: readonly [StoredDelivery, ...StoredDelivery[]],
    ): Promise<StoredDelivery | undefined> => {
      const now = clock.now();
      while ((messages[0] ?? now) <= now - windowMs) messages.shift();
      const free = mostMessages - messages.length;
      // A run waits for its question: that message is neither held nor part of a digest.
      const question = due.find(({ alert }) => alert.question !== undefined);
      if (question !== undefined) return question;
      // An earlier scheduler may have sent the oldest and died: a second copy must have the same id.
      const isUncertain = isNew && due[0].nextAt < startedAt;
      isNew = false;
      if (free <= 0) return due.find((one) => !isFirst(one));
      const parts = isUncertain ? [] : digestParts(due, free);
      return parts.length > 0 ? joined(parts, due[0].target) : due[0];
    },
    sent: (delivery: StoredDelivery): void => {
      if (!isFirst(delivery)) return;
      // A digest takes the whole minute: in a storm there is one a minute.
      const taken = delivery.alert.topic === "digest" ? mostMessages : 1;
      messages.push(...Array.from({ length: taken }, () => clock.now()));
    },
    /** When the next message may be sent, epoch ms. */
    freeAt: (): number => (messages[0] ?? clock.now()) + windowMs,
  };
}

export type Pace = ReturnType<typeof createPace>;
