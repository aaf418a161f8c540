import { aborted } from "node:util";
import type { Clock } from "../../../streams/clock.ts";
import { drive } from "../../../streams/machine.ts";
import { createLease } from "../../../streams/runs/lease.ts";
import type { EngineReport, LeaseEvent, LeaseOptions } from "../../../streams/runs/lease-events.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type {
  ClaimRequest,
  RemoteLine,
  RemoteRuns,
  InboxAnswer,
} from "../../foundation/contracts/remote-run.ts";
import { refusal } from "../../foundation/contracts/run-api.ts";
import type { RunStopReason } from "../../foundation/contracts/run-stop.ts";
import { endedExit, lostExit, rejectedExit, stoppedBeforeStart } from "../runners/run-exit.ts";
import type { Ending } from "../runners/run-exit.ts";
import type { RunOutput } from "../runners/run-output.ts";
import type { ReceivedEnd, ReceivedLines } from "./received-lines.ts";
import { setTimeout as wait } from "node:timers/promises";
import { inboxWaitMs } from "../../foundation/contracts/remote-run.ts";

export interface RemoteProcessOptions extends LeaseOptions {
  readonly clock: Clock;
  /** Names this scheduler. */
  readonly scheduler: string;
  readonly job: () => Promise<Job>;
  /** Resolves once the next scheduler knows of the claim. */
  readonly onClaim: (node: string) => Promise<void>;
  readonly onWaits: (text: string) => void;
  readonly received: Promise<ReceivedLines>;
  readonly flushLogs: () => Promise<boolean>;
}

type Parameter<M extends keyof RemoteRuns> = Parameters<RemoteRuns[M]>[1];

/** The process of a run on another machine: what it asks for, what its engine says of it, and how it ends. */
export interface RemoteProcess {
  readonly claim: (request: ClaimRequest) => ReturnType<RemoteRuns["claim"]>;
  readonly lines: (lines: Parameter<"lines">) => ReturnType<RemoteRuns["lines"]>;
  readonly inbox: (signal: Parameter<"inbox">) => ReturnType<RemoteRuns["inbox"]>;
  readonly wantsReport: () => boolean;
  readonly reported: (report: EngineReport) => void;
  /** Its engine has it from now on. */
  readonly begin: () => void;
  readonly stop: (reason: RunStopReason, graceMs: number) => void;
  /** Its exit, once that is known. */
  readonly exit: Promise<ProcessExit>;
  /** The run is over: every request is refused. */
  readonly close: () => void;
}

export interface ProcessExit {
  readonly event: RunnerEvent;
  /** Whether it reported its end itself; otherwise something of it may live. */
  readonly isReported: boolean;
}

export function createRemoteProcess(options: RemoteProcessOptions): RemoteProcess {
  const { clock, received, scheduler, flushLogs, leaseMs } = options;
  const exit = Promise.withResolvers<ProcessExit>();
  const over = new AbortController();
  const inbox = createInbox();
  const lease = createLease(options);
  let hasExit = false;
  const assertLive = (): void => {
    if (hasExit || over.signal.aborted) throw runIsOver();
  };
  /** After the exit is known, input is rejected; the response is held until every reader has seen it. */
  const untilOver = async (): Promise<never> => {
    await aborted(over.signal, exit);
    throw runIsOver();
  };
  const driver = drive(lease, clock, (event) => {
    if (event.type === "waits") return options.onWaits(event.text);
    hasExit = true;
    exit.resolve(
      received.then(({ output }) => ({ event: exitOfLease(event, output), isReported: false })),
    );
  });
  return {
    claim: async ({ node }) => {
      const job = await options.job();
      assertLive();
      await options.onClaim(node);
      driver.apply({ type: "claimed", node });
      assertLive();
      return { job, leaseSeconds: leaseMs / 1000 };
    },
    lines: async (lines) => {
      if (hasExit) return untilOver();
      driver.apply({ type: "heard" });
      const { taken, stored, end, output } = await taking(received, lines, flushLogs);
      if (!stored) throw refusal("unavailable", "The log can't be written now.");
      if (end === null) return { stored: taken, scheduler };
      driver.apply({ type: "end" });
      hasExit = true;
      exit.resolve({ event: exitOfEnd(end, output), isReported: true });
      return untilOver();
    },
    inbox: (signal) => {
      driver.apply({ type: "heard" });
      return inbox.next(signal);
    },
    wantsReport: () => lease.wantsReport(clock.now()),
    reported: (report) => driver.apply({ type: "reported", report }),
    begin: () => driver.apply({ type: "begin" }),
    stop: (reason, graceMs) => {
      inbox.stop(reason, graceMs);
      driver.apply({ type: "stop", graceMs });
    },
    exit: exit.promise,
    close: () => {
      driver.stop();
      over.abort();
    },
  };
}

/** Refuses any request of a run that is over. */
export function runIsOver() {
  return refusal("unauthorized", "This run is over.");
}

async function taking(
  received: Promise<ReceivedLines>,
  lines: readonly RemoteLine[],
  flushLogs: () => Promise<boolean>,
) {
  const { take, taken, end, output } = await received;
  take(lines);
  return { taken: taken(), end: end(), output, stored: await flushLogs() };
}

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

/** What the scheduler has for a run that asks for it. */
interface Inbox {
  readonly stop: (reason: RunStopReason, graceMs: number) => void;
  /** Resolves when there is something new, after `inboxWaitMs`, or when the asker left. */
  readonly next: (signal: AbortSignal) => Promise<InboxAnswer>;
}

/** Responses can get lost, so each is resent until acknowledged. */
export function createInbox(): Inbox {
  const asked = new AbortController();
  let stop: InboxAnswer["stop"] = null;
  let isAnswered = false;
  return {
    stop: (reason, graceMs) => {
      stop ??= { reason, graceMs };
      asked.abort();
    },
    next: async (signal) => {
      const news = isAnswered ? [] : [asked.signal];
      await wait(inboxWaitMs, undefined, { signal: AbortSignal.any([signal, ...news]) }).catch(
        () => undefined,
      );
      isAnswered ||= stop !== null && !signal.aborted;
      return { stop };
    },
  };
}
