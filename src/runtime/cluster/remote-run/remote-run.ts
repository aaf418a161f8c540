import type { StopReason } from "../../../../streams/outcomes.ts";
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { stopReasonFile } from "../../wire/run-stop.ts";
import { nodeVariable, ticketSchema, type Ticket } from "../../wire/remote-protocol.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { claimJob, type ClaimedJob } from "./claim-job.ts";
import type { ClaimedRun } from "./claimed-run.ts";
import { followInbox } from "./follow-inbox.ts";
import { createLease } from "./lease.ts";
import { OutgoingLines } from "./outgoing-lines.ts";
import { openChannel, type Channel } from "./pipe-channel.ts";
import { runChild, type RunChild } from "./run-child.ts";
import { sendLines } from "./send-lines.ts";
import { readFile } from "node:fs/promises";
import { jsonOf } from "../../../foundation/contracts/json-size.ts";

export interface RemoteRunOptions {
  /** Path of the ticket. */
  readonly ticket: string;
  /** Absolute folder for the run's socket. */
  readonly socketDir: string;
  /** The program of the run's own process, and its arguments. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Aborts when the machine asks this process to end. */
  readonly terminated: AbortSignal;
  /** How long a silent door is tried, in ms. */
  readonly unreachableMs?: number;
  /** Writes a line for the operator of the machine; it has no secrets. */
  readonly err: (text: string) => void;
}

/** How this process ends. */
const remoteRunExits = {
  /** The run has ended, or another process has it. */
  over: 0,
  failed: 1,
  unreachable: 3,
  /** The scheduler did not answer for most of the lease. */
  expired: 4,
  /** The exit code of a program ended by TERM. */
  terminated: 143,
} as const;

const unreachableMs = 60_000;
/** The longest name of a machine; the engine gives it. */
const maxNodeCharacters = 200;
/** How long a run may take to end when its container is stopped, in ms: engines wait ten seconds before they kill. */
const terminationGraceMs = 7_000;
/** How long sending the last lines may take after that, in ms. */
const lastLinesMs = 2_000;

/**
 * One run on this machine: claims the job of its ticket, runs it in a separate process, and sends all output to the
 * scheduler. Resolves to the exit code of this process; never rejects.
 */
export async function remoteRun(options: RemoteRunOptions): Promise<number> {
  const { ticket: path, env, terminated, err } = options;
  const given = await readTicket(path).catch(messageOf);
  if (typeof given === "string") {
    err(`al _remote-run: ${given}\n`);
    return remoteRunExits.failed;
  }
  try {
    const claimed = await claimJob(given, {
      node: (env[nodeVariable] ?? "").slice(0, maxNodeCharacters),
      unreachableMs: options.unreachableMs ?? unreachableMs,
      signal: terminated,
    });
    if (claimed !== null) return await runClaimed(given, claimed, options);
    return terminated.aborted ? remoteRunExits.terminated : remoteRunExits.over;
  } catch (error) {
    err(`al _remote-run: ${messageOf(error)}\n`);
    return remoteRunExits.unreachable;
  }
}

async function runClaimed(
  ticket: Ticket,
  claimed: ClaimedJob,
  options: RemoteRunOptions,
): Promise<number> {
  const { token, leaseMs, askedAt } = claimed;
  using lease = createLease(leaseMs, askedAt);
  const done = new AbortController();
  const run: ClaimedRun = { address: ticket, token, leaseMs, lease, signal: done.signal };
  const lines = new OutgoingLines();
  const over = sendLines(lines, run);
  try {
    const channel = await openChannel(options.socketDir, ticket).catch(messageOf);
    if (typeof channel === "string") {
      const rejected = `the run's socket cannot be made: ${channel}`;
      lines.end({ exitCode: null, signal: null, outOfMemory: false, rejected }, Date.now());
      return await firstOf(run, over);
    }
    using open = channel;
    const child = startRun(claimed, open, lines, options);
    return await followRun(child, { run, lines, channel: open, over }, options);
  } finally {
    done.abort();
  }
}

function startRun(
  { job, instanceId, token }: ClaimedJob,
  { path }: Channel,
  lines: OutgoingLines,
  { command, env }: RemoteRunOptions,
): RunChild {
  const channel = { socket: path, token };
  return runChild({ instanceId, command, env, job: { ...job, channel }, lines });
}

interface Followed {
  readonly run: ClaimedRun;
  readonly lines: OutgoingLines;
  readonly channel: Channel;
  /** Resolves when the scheduler no longer knows the run. */
  readonly over: Promise<boolean>;
}

async function followRun(
  child: RunChild,
  { run, lines, channel, over }: Followed,
  { terminated, err }: RemoteRunOptions,
): Promise<number> {
  const stop = (reason: StopReason, graceMs: number) => {
    writeStopReason(dirname(channel.path), reason);
    child.stop(graceMs);
  };
  const inbox = followInbox(run, {
    onStop: ({ reason, graceMs }) => stop(reason, graceMs),
    onBack: () => lines.ask(),
  });
  const terminate = () => stop("interrupted", terminationGraceMs);
  terminated.addEventListener("abort", terminate, { once: true });
  if (terminated.aborted) terminate();
  let wasTakenAway = false;
  const ended = child.ended.then(async (end) => {
    // Processes that outlived the run can no longer send requests in its name.
    channel[Symbol.dispose]();
    // The machine took the run away, like a failed one: the scheduler declares it lost, and starts it once more.
    wasTakenAway = terminated.aborted && end.exitCode !== 0;
    if (!wasTakenAway) lines.end(end, Date.now());
    else await lastLines(lines);
  });
  const takenAway = ended.then(() => (wasTakenAway ? null : new Promise<never>(() => undefined)));
  const code = await Promise.race([
    firstOf(run, Promise.race([over, inbox])),
    takenAway.then(() => remoteRunExits.terminated),
  ]);
  if (code === remoteRunExits.expired) {
    err("al _remote-run: no response from the scheduler for most of the lease: the run ends\n");
  }
  lines.close();
  child.stop(0);
  await ended;
  return code;
}

async function firstOf(run: ClaimedRun, over: Promise<boolean>): Promise<number> {
  const expired = run.lease.expired.then(() => remoteRunExits.expired);
  return Promise.race([over.then(() => remoteRunExits.over), expired]);
}

/** Resolves when the scheduler has all lines, or after too long. */
async function lastLines(lines: OutgoingLines): Promise<void> {
  const until = performance.now() + lastLinesMs;
  while (!lines.isEmpty && performance.now() < until) await wait(50);
}

/** For the run's post hooks, which otherwise report an interrupted run. */
function writeStopReason(dir: string, reason: StopReason): void {
  try {
    const path = join(dir, stopReasonFile);
    writeFileSync(path, reason);
    chmodSync(path, 0o644);
  } catch {
    // A full disk must not block the run's end.
  }
}

/** The run's ticket. Errors never quote it. */
async function readTicket(path: string): Promise<Ticket> {
  const ticket = ticketSchema.safeParse(jsonOf(await readFile(path, "utf8")));
  if (ticket.success) return ticket.data;
  const fields = ticket.error.issues.map(
    (issue) => `${issue.path.join(".") || "the whole text"} (${issue.code})`,
  );
  throw new Error(`the run's ticket in ${path} is not valid: ${fields.join(", ")}`);
}
