import type { AlertTarget } from "../../../streams/alert-options.ts";
import { nextAttempt } from "./rules/attempts.ts";
import type { StoredDelivery } from "../../foundation/contracts/alert.ts";
import type {
  AlertMessage,
  AlertStore,
  AttemptRecord,
  SendAlert,
  TargetAnswer,
} from "../../foundation/contracts/alerts.ts";

export interface AttemptDeps {
  readonly store: Pick<AlertStore, "attempted" | "switchOff" | "switchedOff">;
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  readonly message: (delivery: StoredDelivery) => AlertMessage;
  readonly send: SendAlert;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly warn: (message: string) => void;
  /** Repeats a write until the store takes it. */
  readonly persist: (write: () => Promise<void>) => Promise<void>;
}

/** How much later than planned, of its wait, a delivery is attempted again: what failed together must not return together. */
const jitter = 0.1;

/** Sends a delivery once and records what came of it. */
export async function attempt(deps: AttemptDeps, delivery: StoredDelivery): Promise<TargetAnswer> {
  const { id, target } = delivery;
  const answer = await answerOf(deps, delivery);
  const record = recordOf(deps, delivery, answer);
  // Why a target takes nothing was logged when it was switched off.
  if (record.type === "dead" && answer.type === "failed") {
    deps.warn(`an alert was not delivered to ${target}: ${record.error}; "al alerts list" has it`);
  }
  await deps.persist(() => deps.store.attempted(id, record));
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
  await deps.persist(() => deps.store.switchOff(name, { at: deps.now(), reason }));
  return answer;
}

/** It would not be sent at any later time either. */
function gone(error: string): TargetAnswer {
  return { type: "gone", error };
}

function recordOf(
  { now, random }: AttemptDeps,
  { attempts }: StoredDelivery,
  answer: TargetAnswer,
): AttemptRecord {
  const at = now();
  if (answer.type === "accepted") return { type: "sent", at };
  const { error } = answer;
  const nextAt = answer.type === "gone" ? null : nextAttempt(attempts + 1, answer.afterMs, at);
  if (nextAt === null) return { type: "dead", at, error };
  return { type: "retry", nextAt: nextAt + Math.round((nextAt - at) * jitter * random()), error };
}
