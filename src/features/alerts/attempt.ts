import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { Clock } from "../../../streams/clock.ts";
import type {
  StoredDelivery,
  AlertMessage,
  AttemptRecord,
  SendAlert,
  TargetAnswer,
} from "./rules/alert.ts";
import type { AlertStore } from "./alert-store.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits after each failed attempt, in ms; the first attempt is made at once. */
const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
/** The longest wait that a target may ask for, in ms. */
export const maxAfterMs = 24 * hour;

export interface AttemptDeps {
  readonly store: AlertStore;
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  readonly message: (delivery: StoredDelivery) => AlertMessage;
  /** Whether the delivery asks a question that has ended. */
  readonly isOver: (delivery: StoredDelivery) => boolean;
  readonly send: SendAlert;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Repeats a write until the store accepts it. */
  readonly persist: (write: () => Promise<void>) => Promise<void>;
}

/** The most that a wait is lengthened at random, as a share of it: deliveries that failed together must not return together. */
const jitter = 0.1;

/** Sends a delivery once and records the result. A question that has ended is not sent: its message is edited, if any. */
export async function attempt(deps: AttemptDeps, delivery: StoredDelivery): Promise<TargetAnswer> {
  const { id, target } = delivery;
  if (delivery.receipt === null && deps.isOver(delivery)) {
    await deps.persist(() => deps.store.remove(id));
    return { type: "accepted" };
  }
  const answer = await answerOf(deps, delivery);
  const record = recordOf(deps, delivery, answer);
  // The reason was logged when the target was switched off.
  if (record.type === "dead" && answer.type === "failed") {
    deps.warn(`an alert was not delivered to ${target}: ${record.error}; "al alerts list" has it`);
  }
  await deps.persist(() => deps.store.attempted(id, record));
  const { question } = delivery.alert;
  // The question may have ended while its message was on the way.
  if (
    question !== undefined &&
    answer.type === "accepted" &&
    answer.receipt !== undefined &&
    deps.isOver(delivery)
  ) {
    await deps.persist(() => deps.store.endQuestion(question, deps.clock.now()));
  }
  return answer;
}

async function answerOf(deps: AttemptDeps, delivery: StoredDelivery): Promise<TargetAnswer> {
  const name = delivery.target;
  const target = deps.targets().find((one) => one.name === name);
  if (target === undefined) return gone(`the project has no [alerts.${name}]`);
  const off = deps.store.switchedOff().get(name);
  if (off !== undefined) return gone(`switched off: ${off.reason}`);
  const answer = await deps.send(deps.message(delivery), target);
  if (answer.type !== "gone") return answer;
  const reason = answer.error;
  deps.warn(`${name} is switched off: ${reason}; "al alerts test ${name}" switches it on again`);
  await deps.persist(() => deps.store.switchOff(name, { at: deps.clock.now(), reason }));
  return answer;
}

/** Later attempts would fail too. */
function gone(error: string): TargetAnswer {
  return { type: "gone", error };
}

function recordOf(
  { clock, random }: AttemptDeps,
  { attempts }: StoredDelivery,
  answer: TargetAnswer,
): AttemptRecord {
  const at = clock.now();
  if (answer.type === "accepted") return { type: "sent", at, receipt: answer.receipt };
  const { error } = answer;
  const nextAt = answer.type === "gone" ? null : nextAttempt(attempts + 1, answer.afterMs, at);
  if (nextAt === null) return { type: "dead", at, error };
  return { type: "retry", nextAt: nextAt + Math.round((nextAt - at) * jitter * random()), error };
}

/**
 * When a delivery is attempted again, epoch ms, after `attempts` that failed; null after the last one. `afterMs`, which
 * the target asked for, lengthens a wait and never shortens it: a target that always answers "at once" would use up all
 * attempts in a second.
 */
export function nextAttempt(attempts: number, afterMs: number | null, now: number): number | null {
  const wait = waits[attempts - 1];
  if (wait === undefined) return null;
  return now + Math.max(wait, Math.min(afterMs ?? 0, maxAfterMs));
}
