import { of } from "rxjs";
import type { Runner } from "../../../streams/runs/runner.ts";
import type { RuntimeType } from "../../../streams/runtimes.ts";
import { rejectedExit } from "./run-exit.ts";

/** A runtime that is not available here: it rejects every run with the reason. */
export function rejectingRunner(reason: string): Runner {
  return { run: () => of(rejectedExit(reason)) };
}

/** One runner for all: each run goes to the one of its agent's runtime. */
export function runnerFor(table: Readonly<Record<RuntimeType, Runner>>): Runner {
  return { run: (request, stop$) => table[request.agent.runtime.type].run(request, stop$) };
}
