import { createMachine, type Machine, type MachineContext } from "../machine.ts";
import type { EngineReport, LeaseCommand, LeaseEvent, LeaseOptions } from "./lease-events.ts";

export interface Lease extends Machine<LeaseCommand, LeaseEvent> {
  /** Whether the engine's report is needed now. */
  readonly wantsReport: (now: number) => boolean;
}

/** A run that is silent for longer, in ms, is looked up on its engine. */
const silentMs = 10_000;
/** How long messages in flight may still arrive after the process ended, in ms. */
const lateMs = 10_000;
/** Time for a stop to reach the run and for its end to return, in ms. */
const stopMarginMs = 10_000;
/** Exit codes of a process ended by KILL or TERM, as on a machine that shuts down. */
const endedFromOutside = new Set([137, 143]);
/** Exit code of a run's process that can't reach any scheduler. */
const unreachableExit = 3;
/** After this many processes failed before the claim, the run is rejected. */
const mostEndings = 3;

/**
 * A run on another machine, as far as it is known, from the start of its process to its last message. It emits one
 * event beside `waits`, after which nothing counts; after its end came, none.
 *
 *     commands:  ─c──h─────h────────────     c claimed, h heard
 *     events:    ──────────────────────l     l lost, the lease after the last h
 */
export function createLease(options: LeaseOptions): Lease {
  const states: LeaseState[] = [];
  const machine = createMachine<LeaseCommand, LeaseEvent>((context) => {
    const state = new LeaseState(options, context);
    states.push(state);
    return (command) => state.take(command);
  });
  return { ...machine, wantsReport: (now) => states.some((state) => state.wantsReport(now)) };
}

class LeaseState {
  readonly #options: LeaseOptions;
  readonly #context: MachineContext<LeaseEvent>;
  #node: string | null;
  #heardAt = 0;
  #isLeased = false;
  #problem: string | null = null;
  /** The first of consecutive reports that its process ended, and its time. */
  #ended: { readonly report: EngineReport; readonly at: number } | null = null;
  #isStopping = false;
  #isOver = false;

  constructor(options: LeaseOptions, context: MachineContext<LeaseEvent>) {
    this.#options = options;
    this.#context = context;
    this.#node = options.node;
  }

  wantsReport(now: number): boolean {
    return !this.#isOver && (this.#node === null || now - this.#heardAt > silentMs);
  }

  take(command: LeaseCommand): void {
    if (this.#isOver) return;
    switch (command.type) {
      case "begin":
        return this.#begin();
      case "claimed":
        return this.#claimed(command.node);
      case "heard":
        return this.#heard();
      case "reported":
        return this.#reported(command.report);
      case "stop":
        return this.#stop(command.graceMs);
      case "end":
        this.#isOver = true;
    }
  }

  #begin(): void {
    const { node, startMs } = this.#options;
    if (node !== null) return this.#claimed(node);
    this.#after(startMs, () => {
      if (this.#node !== null) return;
      const why = this.#problem === null ? "" : `: ${this.#problem}`;
      this.#finish({
        type: "rejected",
        reason: `no machine started it within ${inSeconds(startMs)}${why}`,
      });
    });
  }

  #claimed(node: string): void {
    this.#node = node;
    this.#heard();
    if (!this.#isLeased) this.#expireLater();
    this.#isLeased = true;
  }

  #heard(): void {
    this.#heardAt = this.#context.now();
    this.#ended = null;
  }

  /** One timer at a time, for any number of requests. */
  #expireLater(): void {
    this.#at(this.#heardAt + this.#options.leaseMs, () => {
      if (this.#heardAt + this.#options.leaseMs > this.#context.now()) return this.#expireLater();
      const silence = `has not responded for ${inSeconds(this.#options.leaseMs)}`;
      const reason = `the run on ${machine(this.#node)} ${silence}: the machine may be down or cut off`;
      this.#finish({ type: "lost", reason });
    });
  }

  #reported(report: EngineReport): void {
    const isClaimed = this.#node !== null;
    if (report.state === "ended" || report.state === "gone") return this.#reportedEnd(report);
    this.#ended = null;
    if (isClaimed) return;
    if (report.isHopeless === true) return this.#neverBegan(report);
    const problem = report.problem ?? (report.node === null ? null : `it starts on ${report.node}`);
    if (problem === this.#problem || problem === null) return;
    this.#problem = problem;
    this.#context.emit({ type: "waits", text: `waits for a machine: ${problem}` });
  }

  #reportedEnd(report: EngineReport): void {
    const hasFailedOften = report.endings >= mostEndings || report.isHopeless === true;
    if (this.#node === null && hasFailedOften) return this.#neverBegan(report);
    if (this.#ended !== null) return;
    const ended = { report, at: this.#context.now() };
    this.#ended = ended;
    this.#after(lateMs, () => {
      if (this.#ended === ended) this.#endedSilently(report);
    });
  }

  /** The run's process is gone, and no message reported its end. */
  #endedSilently(report: EngineReport): void {
    if (this.#isStopping) return this.#finish({ type: "overdue" });
    if (report.state === "gone") {
      return this.#finish({ type: "lost", reason: "the run is no longer on the cluster" });
    }
    if (this.#node === null && report.endings === 0) {
      return this.#finish({
        type: "lost",
        reason: "the scheduler ended before it had started the run",
      });
    }
    if (this.#node === null) return this.#neverBegan(report);
    const { exitCode = null, problem } = report;
    if (report.outOfMemory === true) return this.#finish({ type: "out-of-memory", exitCode });
    const why = problem === null ? "" : `: ${problem}`;
    const reason = `the run on ${machine(this.#node)} ended without a report${why}`;
    this.#finish({ type: "lost", reason });
  }

  #neverBegan(report: EngineReport): void {
    const { problem, exitCode = null, outOfMemory = false, isHopeless } = report;
    if (outOfMemory) return this.#finish({ type: "out-of-memory", exitCode });
    const why = problem ?? "the engine gives no reason";
    if (isFromOutside(report)) {
      return this.#finish({ type: "lost", reason: `it was stopped before it began: ${why}` });
    }
    if (exitCode === unreachableExit && this.#options.isAdopted) {
      return this.#finish({ type: "lost", reason: "it began while no scheduler was running" });
    }
    if (exitCode === unreachableExit) {
      const reason = `its machine can't reach the scheduler (${why}): check "address" and "listen" of [cluster], and firewalls between the machines`;
      return this.#finish({ type: "rejected", reason });
    }
    const reason = isHopeless === true ? "the cluster can't start it" : "its process ended";
    this.#finish({ type: "rejected", reason: problem ?? reason });
  }

  #stop(graceMs: number): void {
    if (this.#node === null) return this.#finish({ type: "stopped" });
    this.#isStopping = true;
    this.#after(graceMs + stopMarginMs, () => this.#finish({ type: "overdue" }));
  }

  #finish(event: LeaseEvent): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.emit(event);
  }

  #after(ms: number, action: () => void): void {
    this.#at(this.#context.now() + ms, action);
  }

  #at(time: number, action: () => void): void {
    this.#context.timers.at(time, () => {
      if (!this.#isOver) action();
    });
  }
}

/** Whether the run itself is all right: its machine went down or was drained. */
function isFromOutside({ exitCode = null, isEvicted }: EngineReport): boolean {
  return isEvicted === true || (exitCode !== null && endedFromOutside.has(exitCode));
}

/** A machine of the cluster, for people. */
function machine(name: string | null): string {
  return name === null || name === "" ? "its machine" : JSON.stringify(name);
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
