import { type Outcome, outcomeRows } from "../../../../streams/outcomes.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { messageOf, Problem, hasCode } from "../../../foundation/errors.ts";
import type { Client } from "../operator/client.ts";
import { readSnapshot, withAgent, isNotRunning } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { plain } from "../terminal/format.ts";
import { formatLog, streamLog, type Position } from "../logs/log-line.ts";
import type { Output } from "../terminal/output.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { usedBudgetAdvice } from "../../../features/spend/spend-text.ts";
import { logsDir } from "../../../foundation/logs/log-files.ts";
import { readLog } from "../../../foundation/logs/log-reader.ts";

/** How long the last log lines may take after a run's end, in ms: twice the limit of a stream. */
const lastLines = 1000;

/** The agent to run, and a listener for the run: null while it waits, then its instance id. */
export interface WantedRun {
  readonly agent: string;
  readonly prompt: string | null;
  readonly seen?: (instanceId: string | null) => void;
}

/** Triggers the agent through a live scheduler and prints the run's log; the exit code is the run's. */
export async function followRun(
  { out, projectDir }: Context,
  client: Client,
  wanted: WantedRun,
): Promise<number> {
  const { agent, seen = () => undefined } = wanted;
  const { triggerId, instanceId, queued } = await triggerRun(client, wanted);
  seen(instanceId);
  if (queued) out.note(await whyQueued(client, agent));
  const followed = { client, projectDir, agent, triggerId };
  const started = instanceId ?? (await untilStarted(followed));
  seen(started);
  const { result, isLogged } = await follow(followed, started, out);
  conclude(out, result, isLogged);
  return exitCodeOf(result);
}

/** The trigger, whose run may begin later. Throws a Problem, with the run's exit code if its budget is used up. */
export async function triggerRun(client: Client, { agent, prompt }: WantedRun) {
  const given = prompt === null ? {} : { prompt };
  const asked = client.perform("POST /control/trigger/:name", { name: agent, ...given });
  return withAgent(client, agent, asked).catch((error: unknown) => {
    if (!(error instanceof Problem) || !isOfBudget(error.message)) throw error;
    throw new Problem(error.code, error.message, { exitCode: overBudgetCode, cause: error });
  });
}

const overBudgetCode = 125;

/** Whether work was rejected because a budget is used up. */
function isOfBudget(reason: string | null): boolean {
  return reason?.startsWith("budget: ") === true;
}

/** Why a run waits: for money, for a slot, or for an image, whose problem is the agent's error. */
async function whyQueued(client: Client, agent: string): Promise<string> {
  const snapshot = await readSnapshot(client).catch(() => null);
  const status = snapshot?.agents.find(({ name }) => name === agent);
  if (status?.state === "building")
    return `the image of ${agent} is being built; this run is queued`;
  const used = status?.usedBudget ?? null;
  if (used !== null) return `${agent} ${usedBudgetAdvice(used, Date.now())}`;
  if (status === undefined || status.error === null || status.state === "running") {
    return `${agent} is already running; this run is queued`;
  }
  return `this run is queued; ${agent} has an error: ${plain(status.error)}`;
}

/** The reason is the last line of the log, if that was printed. */
function conclude(out: Output, result: RunResult, isLogged: boolean): void {
  if (out.json) out.document(result);
  const { instanceId, agent, outcome, durationMs, reason } = result;
  const took = durationMs === null ? "" : ` after ${durationText(durationMs)}`;
  const why = reason === null || isLogged ? "" : `: ${plain(reason)}`;
  out.note(`${instanceId ?? agent ?? "run"} ${outcome}${took}${why}`);
}

/** Prints the run's log until it ends, then waits a moment for late lines. Null for a run that never began. */
async function follow(
  followed: Followed,
  instanceId: string | null,
  out: Output,
): Promise<{ readonly result: RunResult; readonly isLogged: boolean }> {
  if (instanceId === null) return { result: await untilEnded(followed, null), isLogged: false };
  const stopped = new AbortController();
  // The log is for watching; the result of the run comes from the history alone.
  const printing = printLog(followed, instanceId, stopped.signal, out).catch((error: unknown) => {
    out.note(`the log can no longer be followed: ${messageOf(error)}`);
    return false;
  });
  const result = await untilEnded(followed, instanceId);
  await Promise.race([printing, sleep(lastLines)]);
  stopped.abort();
  return { result, isLogged: await printing };
}

/** Prints the run's lines. Resolves to true at its end line, or to false when the signal aborts. */
async function printLog(
  { client, agent }: { client: Client; agent: string },
  instanceId: string,
  signal: AbortSignal,
  out: Output,
): Promise<boolean> {
  const position: Position = { id: undefined };
  const onEntry = async (entry: LogEntry) => {
    const line = formatLog(entry, { colors: out.colors, showAgent: false, now: Date.now() });
    if (out.json) out.note(line);
    else out.data(line);
    await out.drained();
    return entry.kind === "run" && "outcome" in entry;
  };
  const stream = { agent, instanceId, lines: 10_000 };
  while (!signal.aborted) {
    if (await streamLog(client, stream, position, { signal, onEntry })) return true;
  }
  return false;
}

/**
 * The exit code of a run: 0, the code of the process, 124 timed out, 125 over budget, 137 killed or out of memory, 143
 * interrupted, 1.
 */
function exitCodeOf({ outcome, exitCode, reason }: RunResult): number {
  if (outcome === "succeeded") return 0;
  if (outcome === "failed") return exitCode === null || exitCode === 0 ? 1 : exitCode;
  return isOfBudget(reason) ? overBudgetCode : outcomeRows[outcome].exitCode || 1;
}

/** How long between two requests for the history entry, in ms. */
const pollMs = 300;
/** How long a scheduler that stops may take to write its last lines, in milliseconds. */
const endTimeoutMs = 3000;

/** The result of a followed run. */
type RunResult = Pick<
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
interface Followed {
  readonly client: Client;
  readonly projectDir: string;
  readonly agent: string;
  readonly triggerId: string;
}

/** Waits for the run to begin; null when it ended without beginning. */
async function untilStarted(followed: Followed): Promise<string | null> {
  for (;;) {
    const { instanceId, outcome } = await lookUp(followed);
    if (instanceId !== null || outcome !== null) return instanceId;
    await sleep(pollMs);
  }
}

/**
 * Waits for the end in the history. A stopping scheduler lets its runs finish and exits: the end is then read from the
 * log, which it leaves behind.
 */
async function untilEnded(followed: Followed, instanceId: string | null): Promise<RunResult> {
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

/** A scheduler that stops at once may hang up during an answer. */
function isHangUp(error: unknown): boolean {
  return hasCode(error, "disconnected");
}

function resultOf({ triggerId }: Followed, entry: Omit<RunResult, "triggerId">): RunResult {
  const { agent, instanceId, outcome, exitCode, durationMs, reason } = entry;
  const { model, tokens, costUsd, value } = entry;
  const run = { triggerId, agent, instanceId, outcome, exitCode, durationMs, reason };
  return { ...run, model, tokens, costUsd, value };
}

/** By its id: it may wait behind any number of newer triggers. */
async function lookUp({ client, triggerId }: Followed): Promise<HistoryEntry> {
  const { entries } = await client.perform("GET /api/stats/triggers/:id/calls", { id: triggerId });
  const entry = entries.find(({ id }) => id === triggerId);
  if (entry !== undefined) return entry;
  throw new Problem(
    "lost_sight",
    `the history does not contain the trigger ${triggerId}`,
    "List the entries with `al history`.",
  );
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
