import type { Outcome } from "../../../streams/vocabulary.ts";

/** What an alert can be about. */
export const alertTopics = [
  "runs",
  "no_success",
  "config",
  "image",
  "credentials",
  "blocked",
  "missed_ticks",
  "dead_letters",
  "budget",
  "scheduler_down",
  "digest",
  "test",
] as const;
export type AlertTopic = (typeof alertTopics)[number];

/** `opened` when something went wrong, `reminder` while it stays so, `resolved` once it is right again. */
export const alertPhases = ["opened", "reminder", "resolved"] as const;
export type AlertPhase = (typeof alertPhases)[number];

/** What a target is notified of: the fact, without the words and the form of any target. Plain JSON. */
export interface Alert {
  readonly topic: AlertTopic;
  readonly phase: AlertPhase;
  /** Null for the project as a whole. */
  readonly agent: string | null;
  /** Epoch ms. */
  readonly at: number;
  /** Since when it lasts, epoch ms. */
  readonly since: number;
  /** Why, in one line of at most 300 characters; may quote text by strangers. Null where the topic says it all. */
  readonly reason: string | null;
  /** Failures in a row, ticks, dead letters, or alerts of a digest. */
  readonly count: number;
  readonly outcome: Outcome | null;
  readonly instanceId: string | null;
  /** US dollars of that run; null where it is not known. */
  readonly costUsd: number | null;
  /** Agents of a digest, the first ten. */
  readonly agents: readonly string[];
}

/** One alert on its way to one target. */
export interface Delivery {
  /** UUID; the same at each attempt, so that a receiver can drop what it has. */
  readonly id: string;
  /** When it came to be, epoch ms. */
  readonly at: number;
  /** Name of the target in `[alerts.<name>]`. */
  readonly target: string;
  readonly alert: Alert;
  /** When it is to be sent, epoch ms. */
  readonly nextAt: number;
}

/** A delivery with its attempts by now. */
export interface StoredDelivery extends Delivery {
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Why the last attempt failed; null before the first failure. */
  readonly lastError: string | null;
  /** When it was accepted or given up, epoch ms; null while it waits. */
  readonly endedAt: number | null;
}

/** `dead` after the last attempt, until it is retried by hand. */
export const deliveryStates = ["waiting", "sent", "dead"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What a rule knows, as JSON that only the rule reads; null once it knows nothing worth keeping. */
export interface RuleState {
  /** Empty for the project as a whole. */
  readonly agent: string;
  readonly rule: string;
  readonly value: string | null;
}

/**
 * What an event led to. Both are committed together with the event itself: a delivery exists exactly when its event does.
 * A delivery whose id is stored and waits replaces that one: a digest that grew.
 */
export interface AlertWrites {
  readonly states: readonly RuleState[];
  readonly deliveries: readonly Delivery[];
}

/** What is wrong now, and was alerted. */
export interface OpenAlert {
  /** Null for the project as a whole. */
  readonly agent: string | null;
  readonly topic: AlertTopic;
  /** Epoch ms. */
  readonly since: number;
  /** Failures in a row. */
  readonly count: number;
  readonly reason: string | null;
}
