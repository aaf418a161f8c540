import { z } from "zod";
import type { Alert, AlertPhase, AlertTopic } from "../../../foundation/contracts/alert.ts";
import { reasonLine } from "./reason-line.ts";
import { alertSchema } from "./rule-states.ts";

const mostAgents = 10;

/** Alerts to one target that became one, however many they are. */
export const digestSchema = z.object({
  /** The id of its delivery. */
  id: z.string(),
  /** Epoch ms. */
  dueAt: z.number(),
  first: alertSchema,
  /** What all of them have in common (`causeOf`); null once they differ. */
  cause: z.string().nullable(),
  count: z.number(),
  agents: z.array(z.string()).readonly(),
  /** How many there are of each `topic/phase`. */
  kinds: z.record(z.string(), z.number()),
});
export type Digest = Readonly<z.infer<typeof digestSchema>>;

export function newDigest(id: string, dueAt: number, alert: Alert, cause: string): Digest {
  return joined({ id, dueAt, first: alert, cause, count: 0, agents: [], kinds: {} }, alert, cause);
}

/** The digest with one alert more. */
export function joined(digest: Digest, alert: Alert, cause: string): Digest {
  const { agents, kinds, count } = digest;
  const kind = `${alert.topic}/${alert.phase}`;
  const isListed = alert.agent === null || agents.includes(alert.agent);
  return {
    ...digest,
    cause: digest.cause === cause ? cause : null,
    count: count + 1,
    agents: isListed || agents.length >= mostAgents ? agents : [...agents, alert.agent],
    kinds: Object.fromEntries([...Object.entries(kinds), [kind, (kinds[kind] ?? 0) + 1]]),
  };
}

/** A digest of one alert is that alert. */
export function alertOf(digest: Digest, now: number): Alert {
  const { first, count, agents, kinds } = digest;
  if (count === 1) return first;
  const isAllRight = Object.keys(kinds).every((kind) => kind.endsWith("/resolved"));
  return {
    topic: "digest",
    phase: isAllRight ? "resolved" : "opened",
    agent: null,
    at: now,
    since: first.at,
    reason: reasonOf(digest),
    count,
    outcome: null,
    instanceId: null,
    costUsd: null,
    agents,
  };
}

const nouns: Record<AlertTopic, string> = {
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
  digest: "digests",
  test: "tests",
};

const phases: Record<AlertPhase, string> = {
  opened: "new",
  reminder: "lasting",
  resolved: "resolved",
};

/** `failed runs: 7 new, 2 resolved; invalid configs: 1 new`, and the reason when it is the same for all. */
function reasonOf({ kinds, cause, first }: Digest): string | null {
  const topics = Object.entries(nouns).flatMap(([topic, noun]) => {
    const counts = Object.entries(phases).flatMap(([phase, word]) => {
      const count = kinds[`${topic}/${phase}`];
      return count === undefined ? [] : [`${count} ${word}`];
    });
    return counts.length === 0 ? [] : [`${noun}: ${counts.join(", ")}`];
  });
  const why = cause === null || first.reason === null ? "" : ` (${first.reason})`;
  return reasonLine(`${topics.join("; ")}${why}`);
}
