import { of } from "rxjs";
import type { Runner, RunnerEvent } from "../../streams/runs/runner.ts";
import type { RuntimeType } from "../../streams/runtimes.ts";

/** The exit of a run that never began. */
export function rejectedExit(reason: string): RunnerEvent {
  return {
    type: "exit",
    exit: {
      exitCode: null,
      signal: null,
      outOfMemory: false,
      rejected: reason,
      error: null,
      usage: null,
    },
  };
}

/** A runtime that cannot be had here: it turns every run down and says why. */
export function rejectingRunner(reason: string): Runner {
  return { run: () => of(rejectedExit(reason)) };
}

/** One runner for all: each run goes to the one of its agent's runtime. */
export function runnerFor(table: Readonly<Record<RuntimeType, Runner>>): Runner {
  return { run: (request, stop$) => table[request.agent.runtime.type].run(request, stop$) };
}
