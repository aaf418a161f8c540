import type { Alert, AlertPhase, AlertTopic, StoredDelivery } from "./alert.ts";
import { alertTitle } from "./alert-text.ts";
import { reasonLine } from "./records.ts";

/** Messages to one target within `windowMs`; further alerts wait, and are sent as one digest. */
export const mostMessages = 5;
export const windowMs = 60_000;
const mostAgents = 10;
const mostAlerts = 50;

/** Whether a delivery is sent for the first time; a person's retry of a dead one is not. */
export function isFirst({ attempts, lastError }: StoredDelivery): boolean {
  return attempts === 0 && lastError === null;
}

const notJoined: readonly AlertTopic[] = ["digest", "question"];

/**
 * The deliveries that become one digest, of those to one target that are due; `free` is the number of messages that may
 * be sent now. Empty if each is sent by itself.
 */
export function digestParts(
  due: readonly StoredDelivery[],
  free: number,
): readonly StoredDelivery[] {
  const fresh = due.filter((one) => isFirst(one) && !notJoined.includes(one.alert.topic));
  // Alerts of quiet hours are one digest, however few.
  const held = fresh.filter(({ at, nextAt }) => nextAt > at);
  const isMany = fresh.length > Math.max(free, 1) || held.length > 1;
  return isMany ? fresh : [];
}

/** One alert for many. */
export function digestOf(alerts: readonly Alert[], now: number): Alert {
  const agents = new Set(alerts.flatMap(({ agent }) => agent ?? []));
  const isResolved = alerts.every(({ phase }) => phase === "resolved");
  return {
    topic: "digest",
    phase: isResolved ? "resolved" : "opened",
    agent: null,
    at: now,
    since: Math.min(...alerts.map(({ at }) => at)),
    reason: reasonOf(alerts),
    count: alerts.length,
    outcome: null,
    instanceId: null,
    costUsd: null,
    agents: [...agents].slice(0, mostAgents),
    alerts: alerts.slice(0, mostAlerts).map(lineOf),
  };
}

function lineOf(alert: Alert): string {
  const title = alertTitle(alert);
  return alert.reason === null ? title : `${title}: ${alert.reason}`;
}

const nouns: Readonly<Record<AlertTopic, string>> = {
  runs: "failed runs",
  no_success: "without success",
  config: "invalid configs",
  image: "images that can't be built",
  credentials: "missing requirements",
  blocked: "agents whose runs can't start",
  missed_ticks: "missed schedules",
  dead_letters: "dead letters",
  budget: "budgets",
  scheduler_down: "scheduler down",
  question: "questions",
  digest: "digests",
  test: "tests",
};

const phases: Readonly<Record<AlertPhase, string>> = {
  opened: "new",
  reminder: "lasting",
  resolved: "resolved",
};

/** `failed runs: 7 new, 2 resolved; invalid configs: 1 new`, and the reason if all have the same. */
function reasonOf(alerts: readonly Alert[]): string | null {
  const byTopic = Map.groupBy(alerts, ({ topic }) => topic);
  const texts = [...byTopic].map(([topic, ofTopic]) => {
    const byPhase = Map.groupBy(ofTopic, ({ phase }) => phase);
    const counts = [...byPhase].map(([phase, { length }]) => `${length} ${phases[phase]}`);
    return `${nouns[topic]}: ${counts.join(", ")}`;
  });
  const reasons = new Set(alerts.map(({ reason }) => reason));
  const [reason] = reasons;
  const why = reasons.size > 1 || reason == null ? "" : ` (${reason})`;
  return reasonLine(`${texts.join("; ")}${why}`);
}
