import type { RunMessage } from "../../../src/foundation/contracts/run-messages.ts";
import { ticketSchema } from "../../../src/foundation/contracts/remote-run.ts";
import { claimJob } from "../../../src/runtime/cluster/remote-run/claim-job.ts";
import type { ClaimedRun } from "../../../src/runtime/cluster/remote-run/claimed-run.ts";
import { followInbox } from "../../../src/runtime/cluster/remote-run/follow-inbox.ts";
import { createLease } from "../../../src/runtime/cluster/remote-run/lease.ts";
import { OutgoingLines } from "../../../src/runtime/cluster/remote-run/outgoing-lines.ts";
import { sendLines } from "../../../src/runtime/cluster/remote-run/send-lines.ts";
import type { PodEnd, PodStart, StartProgram } from "../../helpers/kubernetes/pod-program.ts";

/** Runs on other machines that are real to the scheduler: all that a remote run does but its child process. */
export interface SimulatedRuns {
  readonly start: StartProgram;
  readonly claimed: () => number;
  /** Each claimed run writes so many lines at once. */
  write(lines: number): void;
  /** Lines that the scheduler does not have yet. */
  readonly unstored: () => number;
  /** Every run ends with success. */
  endAll(): void;
  /** Runs that the scheduler knows no more. */
  readonly over: () => number;
}

const ready: RunMessage = { type: "ready" };
const account: RunMessage = {
  ...{ type: "end", error: null },
  usage: { model: "scripted", tokens: 100, costUsd: null, turns: 1 },
};
const success = { exitCode: 0, signal: null, outOfMemory: false, rejected: null };
const sentence = "The quick brown fox jumps over the lazy dog, and waits for the health checks. ";

function said(n: number): RunMessage {
  const msg = `${n} ${sentence.repeat(2)}`;
  return { type: "log", level: 30, time: Date.now(), kind: "said", msg };
}

function emit(lines: OutgoingLines, message: RunMessage): void {
  lines.add("stdout", JSON.stringify(message), Date.now());
}

function end(lines: OutgoingLines): void {
  emit(lines, account);
  lines.end(success, Date.now());
}

export function simulatedRuns(): SimulatedRuns {
  const runs = new Set<OutgoingLines>();
  let claimed = 0;
  let over = 0;
  let written = 0;
  const run = async (pod: PodStart, signal: AbortSignal): Promise<PodEnd> => {
    const ticket = ticketSchema.parse(JSON.parse(pod.files["/run/secrets/al-run"] ?? ""));
    const job = await claimJob(ticket, { node: pod.node, unreachableMs: 60_000, signal });
    if (job === null) return { exitCode: 0 };
    using lease = createLease(job.leaseMs, job.askedAt);
    const { token, leaseMs } = job;
    const claim: ClaimedRun = { address: ticket, token, leaseMs, lease, signal };
    const lines = new OutgoingLines();
    runs.add(lines);
    emit(lines, ready);
    claimed += 1;
    const inbox = followInbox(claim, {
      onStop: () => end(lines),
      onBack: () => lines.ask(),
    });
    await Promise.race([sendLines(lines, claim), inbox]);
    runs.delete(lines);
    over += 1;
    return { exitCode: 0 };
  };
  return {
    start: (pod) => {
      const ending = new AbortController();
      const ended = run(pod, ending.signal).finally(() => ending.abort());
      const abort = (): void => ending.abort();
      return { ended: ended.catch(() => ({ exitCode: 1 })), terminate: abort, kill: abort };
    },
    claimed: () => claimed,
    write: (count) => {
      for (const lines of runs) {
        for (let n = 0; n < count; n++) emit(lines, said(++written));
      }
    },
    unstored: () => [...runs].filter((lines) => !lines.isEmpty).length,
    endAll: () => {
      for (const lines of runs) end(lines);
    },
    over: () => over,
  };
}
