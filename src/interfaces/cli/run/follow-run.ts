import { setTimeout as sleep } from "node:timers/promises";
import type { LogEntry, Outcome } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../foundation/contracts/format.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { Client } from "../operator/client.ts";
import { readSnapshot, withAgent } from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { plain } from "../terminal/format.ts";
import { formatLog } from "../logs/log-line.ts";
import { streamLog } from "../logs/log-stream.ts";
import type { Position } from "../logs/log-stream.ts";
import type { Output } from "../terminal/output.ts";
import { untilEnded, untilStarted } from "./run-end.ts";
import type { Followed, RunResult } from "./run-end.ts";

/** How long after a run's end its last log lines may take, in milliseconds: twice what a stream may. */
const lastLines = 1000;

interface Triggered {
  readonly triggerId: string;
  readonly instanceId: string | null;
  readonly queued: boolean;
}

/** What to run, and a listener for the run: null while it waits, then its instance id. */
export interface WantedRun {
  readonly agent: string;
  readonly prompt: string | null;
  readonly seen?: (instanceId: string | null) => void;
}

/** Triggers the agent through a live scheduler and prints the run's log; the exit code is the run's. */
export async function followRun(
  { out, projectDir }: Context,
  client: Client,
  { agent, prompt, seen = () => undefined }: WantedRun,
): Promise<number> {
  const path = `/control/trigger/${encodeURIComponent(agent)}`;
  const answer = await withAgent(
    client,
    agent,
    client.post(path, prompt === null ? {} : { prompt }),
  );
  const { triggerId, instanceId, queued } = answer as Triggered;
  seen(instanceId);
  if (queued) out.note(await whyQueued(client, agent));
  const followed = { client, projectDir, agent, triggerId };
  const started = instanceId ?? (await untilStarted(followed));
  seen(started);
  const result = await follow(followed, started, out);
  conclude(out, result);
  return exitCodeOf(result.outcome, result.exitCode);
}

/** A run waits for a place; or for an image, and then what is wrong with it is the agent's error. */
async function whyQueued(client: Client, agent: string): Promise<string> {
  const snapshot = await readSnapshot(client).catch(() => null);
  const status = snapshot?.agents.find(({ name }) => name === agent);
  if (status?.state === "building") return `the image of ${agent} is being built: the run waits`;
  if (status === undefined || status.error === null || status.state === "running") {
    return `all runners of ${agent} are busy: the run waits for its turn`;
  }
  return `the run waits for its turn; the error of ${agent}: ${plain(status.error)}`;
}

function conclude(out: Output, result: RunResult): void {
  if (out.json) out.document(result);
  const { instanceId, agent, outcome, durationMs, reason } = result;
  const took = durationMs === null ? "" : ` after ${durationText(durationMs)}`;
  const why = reason === null ? "" : `: ${plain(reason)}`;
  out.note(`${instanceId ?? agent ?? "run"} ${outcome}${took}${why}`);
}

/** Prints the run's log beside waiting for its end, then gives late lines a moment. Null is a run that never began. */
async function follow(
  followed: Followed,
  instanceId: string | null,
  out: Output,
): Promise<RunResult> {
  if (instanceId === null) return untilEnded(followed, null);
  const stopped = new AbortController();
  // The log is for watching; the result of the run comes from the history alone.
  const printing = printLog(followed, instanceId, stopped.signal, out).catch((error: unknown) =>
    out.note(`the log cannot be followed any more: ${messageOf(error)}`),
  );
  const result = await untilEnded(followed, instanceId);
  await Promise.race([printing, sleep(lastLines)]);
  stopped.abort();
  await printing;
  return result;
}

/** Prints the run's lines until its end line, or until the signal ends the wait for it. */
async function printLog(
  { client, agent }: { client: Client; agent: string },
  instanceId: string,
  signal: AbortSignal,
  out: Output,
): Promise<void> {
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
    if (await streamLog(client, stream, position, { signal, onEntry })) return;
  }
}

/**
 * The exit code that stands for a run: 0, what the process gave, 124 timed out, 125 over budget, 137 killed or out of memory, 143
 * interrupted, 1.
 */
function exitCodeOf(outcome: Outcome, exitCode: number | null): number {
  if (outcome === "succeeded") return 0;
  if (outcome === "failed") return exitCode === null || exitCode === 0 ? 1 : exitCode;
  if (outcome === "timed_out") return 124;
  if (outcome === "over_budget") return 125;
  if (outcome === "interrupted") return 143;
  return outcome === "killed" || outcome === "out_of_memory" ? 137 : 1;
}
