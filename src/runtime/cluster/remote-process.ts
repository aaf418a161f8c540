import type { StopReason } from "../../../streams/outcomes.ts";
import { stoppedBeforeStart, type RunnerEvent } from "../../../streams/runs/runner.ts";
import { aborted } from "node:util";
import type { Clock } from "../../../streams/clock.ts";
import { drive } from "../../foundation/drive.ts";
import { createLease } from "../../../streams/runs/lease.ts";
import type { EngineReport, LeaseEvent, LeaseOptions } from "../../../streams/runs/lease-events.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type {
  ClaimRequest,
  LinesAnswer,
  RemoteLine,
  InboxAnswer,
  RemoteEnd,
} from "../wire/remote-protocol.ts";
import { endedRun, refusal } from "../wire/protocol.ts";
import { endedExit, lostExit, rejectedExit, type Ending } from "../runners/run-exit.ts";
import type { RunOutput } from "../runners/run-output.ts";
import { setTimeout as wait } from "node:timers/promises";
import { inboxWaitMs } from "../wire/remote-protocol.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";

export interface RemoteProcessOptions extends LeaseOptions {
  readonly clock: Clock;
  /** Identifies this scheduler. */
  readonly scheduler: string;
  readonly job: () => Promise<Job>;
  /** Resolves once the next scheduler knows of the claim. */
  readonly onClaim: (node: string) => Promise<void>;
  readonly onWaits: (text: string) => void;
  readonly received: Promise<ReceivedLines>;
  readonly flushLogs: () => Promise<boolean>;
}

export interface ProcessExit {
  readonly event: RunnerEvent;
  /** Whether the run reported its own end; otherwise its processes may still live. */
  readonly isReported: boolean;
}

/** The process of a run on another machine: its requests, the reports of its engine, and its end. */
export function createRemoteProcess(options: RemoteProcessOptions) {
  const { clock, received, scheduler, flushLogs, leaseMs } = options;
  const exit = Promise.withResolvers<ProcessExit>();
  const over = new AbortController();
  const inbox = createInbox();
  const lease = createLease(options);
  let hasExit = false;
  const assertLive = (): void => {
    if (hasExit || over.signal.aborted) throw endedRun("over");
  };
  /** After the exit is known, input is rejected; the response is held until every reader has seen it. */
  const untilOver = async (): Promise<never> => {
    await aborted(over.signal, exit);
    throw endedRun("over");
  };
  const driver = drive(lease, clock, (event) => {
    if (event.type === "waits") return options.onWaits(event.text);
    hasExit = true;
    exit.resolve(
      received.then(({ output }) => ({ event: exitOfLease(event, output), isReported: false })),
    );
  });
  return {
    claim: async ({ node }: ClaimRequest) => {
      const job = await options.job();
      assertLive();
      await options.onClaim(node);
      driver.apply({ type: "claimed", node });
      assertLive();
      return { job, leaseSeconds: leaseMs / 1000 };
    },
    lines: async (lines: readonly RemoteLine[]): Promise<LinesAnswer> => {
      if (hasExit) return untilOver();
      driver.apply({ type: "heard" });
      const { take, output } = await received;
      const { taken, end } = take(lines);
      if (!(await flushLogs())) throw refusal("unavailable", "The log can't be written now.");
      if (end === null) return { stored: taken, scheduler };
      driver.apply({ type: "end" });
      hasExit = true;
      exit.resolve({ event: exitOfEnd(end, output), isReported: true });
      return untilOver();
    },
    inbox: (signal: AbortSignal) => {
      driver.apply({ type: "heard" });
      return inbox.next(signal);
    },
    wantsReport: (): boolean => lease.wantsReport(clock.now()),
    reported: (report: EngineReport) => driver.apply({ type: "reported", report }),
    /** The engine has the run from now on. */
    begin: () => driver.apply({ type: "begin" }),
    stop: (reason: StopReason, graceMs: number) => {
      inbox.stop(reason, graceMs);
      driver.apply({ type: "stop", graceMs });
    },
    /** The run's exit, once known. */
    exit: exit.promise,
    /** The run has ended: every request is rejected. */
    close: () => {
      driver.stop();
      over.abort();
    },
  };
}

export type RemoteProcess = ReturnType<typeof createRemoteProcess>;

function exitOfEnd({ time, rejected, ...ending }: ReceivedEnd, output: RunOutput): RunnerEvent {
  if (rejected !== null) return rejectedExit(rejected);
  return endedExit({ ...ending, endedAt: time }, output.end(), output.handedBack());
}

function exitOfLease(
  event: Exclude<LeaseEvent, { readonly type: "waits" }>,
  output: RunOutput,
): RunnerEvent {
  switch (event.type) {
    case "rejected":
      return rejectedExit(event.reason);
    case "stopped":
      return stoppedBeforeStart;
    case "lost":
      return lostExit(event.reason, output.end());
    case "out-of-memory": {
      const { exitCode } = event;
      return ended({ exitCode, signal: null, outOfMemory: true }, output);
    }
    case "overdue":
      return ended({ exitCode: null, signal: "SIGKILL", outOfMemory: false }, output);
  }
}

function ended(ending: Omit<Ending, "endedAt">, output: RunOutput): RunnerEvent {
  return endedExit({ ...ending, endedAt: null }, output.end(), output.handedBack());
}

/** Responses can get lost, so each is resent until acknowledged. */
export function createInbox() {
  const asked = new AbortController();
  let stop: InboxAnswer["stop"] = null;
  let isAnswered = false;
  return {
    stop: (reason: StopReason, graceMs: number) => {
      stop ??= { reason, graceMs };
      asked.abort();
    },
    /** Resolves when there is a new entry, after `inboxWaitMs`, or when the client disconnected. */
    next: async (signal: AbortSignal): Promise<InboxAnswer> => {
      const news = isAnswered ? [] : [asked.signal];
      await wait(inboxWaitMs, undefined, { signal: AbortSignal.any([signal, ...news]) }).catch(
        () => undefined,
      );
      isAnswered ||= stop !== null && !signal.aborted;
      return { stop };
    },
  };
}

/** The end of a run's process, and when it came, epoch ms. */
interface ReceivedEnd extends RemoteEnd {
  readonly time: number;
}

/**
 * Turns the numbered lines of a run into events; each counts once however often it is sent. Each log entry has the
 * number of its line as `seq`, from which the next scheduler resumes. Numbers grow, with gaps for lines logged by an
 * earlier scheduler: the run resends only those that were in that scheduler's memory. `logged` is the number of the last
 * line that an earlier scheduler logged; 0 for none.
 */
export function createReceivedLines(
  logged: number,
  emit: (event: RunnerEvent) => void,
  outputTo: (emit: (event: RunnerEvent) => void) => RunOutput,
) {
  let taken = 0;
  let end: ReceivedEnd | null = null;
  const output = outputTo((event) => {
    if (event.type !== "output") return emit(event);
    if (taken > logged) emit({ ...event, entry: { ...event.entry, seq: taken } });
  });
  const take = (line: RemoteLine): void => {
    if (line.seq <= taken) return;
    taken = line.seq;
    // The clock of its machine may be ahead, and a run can write any time.
    const time = Math.min(line.time, Date.now());
    if ("end" in line) end = { ...line.end, time };
    else output.line(line.stream, line.line, time);
  };
  return {
    /** Accepts the lines; returns the number up to which all were accepted, and the end once it came. */
    take: (lines: readonly RemoteLine[]): { taken: number; end: ReceivedEnd | null } => {
      lines.forEach(take);
      return { taken, end };
    },
    output,
  };
}

export type ReceivedLines = ReturnType<typeof createReceivedLines>;

/** The line number of a log entry in a run's output; 0 for the scheduler's own, which have none. */
export function numberOf({ seq }: LogEntry): number {
  return typeof seq === "number" ? seq : 0;
}
