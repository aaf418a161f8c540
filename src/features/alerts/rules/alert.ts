import type { Outcome } from "../../../../streams/outcomes.ts";
import type { AlertTarget } from "../../../../streams/alert-options.ts";
import type { Question } from "../../../foundation/contracts/questions.ts";

/** Faults that last until they are fixed. */
export const lastingTopics = [
  "runs",
  "no_success",
  "config",
  "image",
  "credentials",
  "blocked",
] as const;
export type LastingTopic = (typeof lastingTopics)[number];

/** The subjects of alerts. */
export const alertTopics = [
  ...lastingTopics,
  "missed_ticks",
  "dead_letters",
  "budget",
  "scheduler_down",
  "question",
  "digest",
  "test",
] as const;
export type AlertTopic = (typeof alertTopics)[number];

/** `opened` when something went wrong, `reminder` while it stays so, `resolved` once it is right again. */
export const alertPhases = ["opened", "reminder", "resolved"] as const;
export type AlertPhase = (typeof alertPhases)[number];

/** The content of a notification: the fact, without the words and the form of any target. Plain JSON. */
export interface Alert {
  readonly topic: AlertTopic;
  readonly phase: AlertPhase;
  /** Null for the project as a whole. */
  readonly agent: string | null;
  /** Epoch ms. */
  readonly at: number;
  /** When the problem began, epoch ms. */
  readonly since: number;
  /** Why, in one line of at most 300 characters; may quote text by strangers. Null where the topic says it all. */
  readonly reason: string | null;
  /** Failures in a row, ticks, dead letters, or alerts of a digest. */
  readonly count: number;
  readonly outcome: Outcome | null;
  readonly instanceId: string | null;
  /** Cost of the run in US dollars; null if it is not known. */
  readonly costUsd: number | null;
  /** Agents of a digest, the first ten. */
  readonly agents: readonly string[];
  /** The alerts of a digest in one line each, the first ones; absent for other alerts. */
  readonly alerts?: readonly string[];
  /** The id of the question that it is about. */
  readonly question?: string;
}

/** One alert on its way to one target. */
export interface Delivery {
  /** UUID; the same at each attempt, so that a receiver can drop duplicates. */
  readonly id: string;
  /** When the delivery was created, epoch ms. */
  readonly at: number;
  /** Name of the target in `[alerts.<name>]`. */
  readonly target: string;
  readonly alert: Alert;
  /** When the delivery is to be sent, epoch ms. */
  readonly nextAt: number;
}

/** A delivery with its attempts by now. */
export interface StoredDelivery extends Delivery {
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Why the last attempt failed; null before the first failure. */
  readonly lastError: string | null;
  /** When the delivery was accepted or given up, epoch ms; null while it waits. */
  readonly endedAt: number | null;
  /** Identifies the message about a question to its target; null if it can't be edited, or is edited. */
  readonly receipt: string | null;
}

/** `dead` after the last attempt, until it is retried by hand. */
export const deliveryStates = ["waiting", "sent", "dead"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** State of a rule, as JSON that only the rule reads; null to delete it. */
export interface RuleState {
  /** Empty for the project as a whole. */
  readonly agent: string;
  readonly rule: string;
  readonly value: string | null;
}

/** Writes caused by an event, committed together with it: a delivery exists exactly when its event does. */
export interface AlertWrites {
  readonly states: readonly RuleState[];
  readonly deliveries: readonly Delivery[];
}

/** A person takes care of an alert: it sends no reminder. */
export interface Acknowledgement {
  /** The name that the person or program gave. */
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** When a reminder is sent if the problem still lasts, epoch ms; null for never. */
  readonly until: number | null;
}

/** A fault that lasts and was alerted. */
export interface OpenAlert {
  /** Null for the project as a whole. */
  readonly agent: string | null;
  readonly topic: AlertTopic;
  /** Epoch ms. */
  readonly since: number;
  /** Failures in a row. */
  readonly count: number;
  readonly reason: string | null;
  readonly ack: Acknowledgement | null;
}

/** Waiting and dead deliveries of a target, and whether it accepts alerts. */
export interface TargetDeliveries {
  readonly waiting: number;
  readonly dead: number;
  /** Why an attempt failed, while that delivery waits, or is dead and nothing was accepted since; null otherwise. */
  readonly lastError: string | null;
}

export type AttemptRecord =
  | { readonly type: "sent"; readonly at: number; readonly receipt?: string | undefined }
  | { readonly type: "retry"; readonly nextAt: number; readonly error: string }
  | { readonly type: "dead"; readonly at: number; readonly error: string };

/** A target that answered 410, or the like. */
export interface SwitchedOff {
  /** Epoch ms. */
  readonly at: number;
  readonly reason: string;
}

/** How a target took an alert. */
export type TargetAnswer =
  | { readonly type: "accepted"; readonly receipt?: string | undefined }
  /** `afterMs` as the target wants it; null for the schedule's own. */
  | { readonly type: "failed"; readonly error: string; readonly afterMs: number | null }
  /** The target will never accept an alert again. */
  | { readonly type: "gone"; readonly error: string };

/** Sends one alert to one target, within 15 s. Never rejects. */
export type SendAlert = (message: AlertMessage, target: AlertTarget) => Promise<TargetAnswer>;

export interface AlertMessage {
  /** The delivery's `id`. */
  readonly id: string;
  readonly alert: Alert;
  readonly project: string;
  /** Link for a person; null without a gateway. */
  readonly url: string | null;
  /** A line with the number of files that the run left, and where they are; none without files. */
  readonly files: readonly { readonly label: string; readonly text: string }[];
  /** IANA name, for the times in its text. */
  readonly timezone: string;
  /** The question that it is about. */
  readonly question?: Question | undefined;
  /** The message that this one replaces. */
  readonly receipt?: string | null | undefined;
}
