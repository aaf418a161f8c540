import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../../../streams/vocabulary.ts";
import type { CallTree, HistoryEntry } from "../../../foundation/contracts/history.ts";
import { UserError } from "../../../foundation/errors.ts";
import { logsDir } from "../../../foundation/logs/log-files.ts";
import { readLog } from "../../../foundation/logs/log-reader.ts";
import type { Client } from "../operator/client.ts";
import { isNotRunning } from "../operator/connect.ts";

/** Between two requests for the history entry, in milliseconds. */
const pollMs = 300;
/** How long a scheduler that stops may take to write its last lines, in milliseconds. */
const endTimeoutMs = 3000;

/** The result of a followed run. */
export type RunResult = Pick<
  HistoryEntry,
  | "agent"
  | "instanceId"
  | "exitCode"
  | "durationMs"
  | "reason"
  | "model"
  | "tokens"
  | "costUsd"
  | "value"
> & { readonly triggerId: string; readonly outcome: Outcome };

/** A trigger whose run is followed. */
export interface Followed {
  readonly client: Client;
  readonly projectDir: string;
  readonly agent: string;
  readonly triggerId: string;
}

/** Waits for the run to begin; null when it ended without beginning. */
export async function untilStarted(followed: Followed): Promise<string | null> {
  for (;;) {
    const { instanceId, outcome } = await lookUp(followed);
    if (instanceId !== null || outcome !== null) return instanceId;
    await sleep(pollMs);
  }
}

/**
 * Waits for the end as the history has it. A scheduler that stops lets its runs finish and is gone then: the end is
 * read from the log, which it leaves behind.
 */
export async function untilEnded(
  followed: Followed,
  instanceId: string | null,
): Promise<RunResult> {
  try {
    for (;;) {
      const { outcome, ...entry } = await lookUp(followed);
      if (outcome !== null) return resultOf(followed, { ...entry, outcome });
      await sleep(pollMs);
    }
  } catch (error) {
    const mayHaveEnded = (isNotRunning(error) || isHangUp(error)) && instanceId !== null;
    const result = mayHaveEnded ? await endInLog(followed, instanceId) : null;
    if (result === null) throw error;
    return result;
  }
}

/** One that goes at once may hang up in the middle of an answer. */
function isHangUp(error: unknown): boolean {
  return error instanceof UserError && error.code === "disconnected";
}

function resultOf({ triggerId }: Followed, entry: Omit<RunResult, "triggerId">): RunResult {
  const { agent, instanceId, outcome, exitCode, durationMs, reason } = entry;
  const { model, tokens, costUsd, value } = entry;
  const run = { triggerId, agent, instanceId, outcome, exitCode, durationMs, reason };
  return { ...run, model, tokens, costUsd, value };
}

/** By its id: however many triggers came after it, it may wait behind all of them. */
async function lookUp({ client, triggerId }: Followed): Promise<HistoryEntry> {
  const path = `/api/stats/triggers/${encodeURIComponent(triggerId)}/calls`;
  const { entries } = (await client.get(path)) as CallTree;
  const entry = entries.find(({ id }) => id === triggerId);
  if (entry !== undefined) return entry;
  throw new UserError("lost_sight", `the history does not hold the trigger ${triggerId}`, {
    hint: "al history shows what is there",
  });
}

async function endInLog(followed: Followed, instanceId: string): Promise<RunResult | null> {
  const { agent, projectDir } = followed;
  const query = { agent, instanceId, lines: 10, after: null };
  for (const deadline = Date.now() + endTimeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    const lines = await readLog(logsDir(projectDir), query);
    const end = lines.find(({ entry }) => entry.kind === "run" && "outcome" in entry)?.entry;
    if (end === undefined) continue;
    const { outcome, exitCode, durationMs } = end as unknown as RunResult;
    const unknown = { reason: null, model: null, tokens: null, costUsd: null, value: null };
    return resultOf(followed, { agent, instanceId, outcome, exitCode, durationMs, ...unknown });
  }
  return null;
}
