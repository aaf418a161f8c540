import type { Alert, AlertWrites, RuleState, StoredDelivery } from "./alert.ts";
import type { AlertTarget } from "../../../streams/alert-options.ts";

/** What the store keeps of alerts. */
export interface AlertStore {
  /** Writes inside the transaction that the caller is in. */
  put(writes: AlertWrites): void;
  /** As `put`, in a transaction of its own; waits for the store. */
  record(writes: AlertWrites): Promise<void>;
  states(): readonly RuleState[];
  /** The oldest of a target that are due, or planned by a clock that was ahead, after all writes that were begun before; epoch ms. */
  due(target: string, now: number, limit: number): Promise<readonly StoredDelivery[]>;
  /** When the next delivery of a target is due, epoch ms; null when none waits. */
  nextAt(target: string): number | null;
  /** Names of targets for which something waits. */
  waitingTargets(): readonly string[];
  /** Records an attempt. Waits for the store. */
  attempted(id: string, result: AttemptRecord): Promise<void>;
  /** Makes a dead delivery, or one whose attempt failed, due at `now`; false when there is none such. */
  retry(id: string, now: number): Promise<boolean>;
  /** Makes all failed and dead deliveries of a target that accepts again due at `now`, and forgets their errors. */
  retryFailed(target: string, now: number): Promise<void>;
  /** Records that a target refuses everything, and why; null once it is used again. */
  switchOff(target: string, off: SwitchedOff | null): Promise<void>;
  switchedOff(): ReadonlyMap<string, SwitchedOff>;
  /** Newest first. */
  list(filter: DeliveryFilter): readonly StoredDelivery[];
  /** What there is for each target; none for one that never had a delivery. */
  targetDeliveries(): ReadonlyMap<string, TargetDeliveries>;
}

/** What waits for a target and what was given up, and whether it accepts what it is sent. */
export interface TargetDeliveries {
  readonly waiting: number;
  readonly dead: number;
  /** Why an attempt failed, while that delivery waits, or is dead and nothing was accepted since; null otherwise. */
  readonly lastError: string | null;
}

export type AttemptRecord =
  | { readonly type: "sent"; readonly at: number }
  | { readonly type: "retry"; readonly nextAt: number; readonly error: string }
  | { readonly type: "dead"; readonly at: number; readonly error: string };

/** A target that answered 410, or the like. */
export interface SwitchedOff {
  /** Epoch ms. */
  readonly at: number;
  readonly reason: string;
}

export interface DeliveryFilter {
  readonly state?: StoredDelivery["state"];
  readonly target?: string;
  /** Only those before this id's place; null for the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** How a target took an alert. */
export type TargetAnswer =
  | { readonly type: "accepted" }
  /** `afterMs` as the target wants it; null for the schedule's own. */
  | { readonly type: "failed"; readonly error: string; readonly afterMs: number | null }
  /** It will never take one again. */
  | { readonly type: "gone"; readonly error: string };

/** Sends one alert to one target, within 15 s. Never rejects. */
export type SendAlert = (message: AlertMessage, target: AlertTarget) => Promise<TargetAnswer>;

export interface AlertMessage {
  /** As `Delivery.id`. */
  readonly id: string;
  readonly alert: Alert;
  readonly project: string;
  /** Where a person looks further; null without a gateway. */
  readonly url: string | null;
  /** IANA name, for the times in its text. */
  readonly timezone: string;
}
