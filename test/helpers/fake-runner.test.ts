import { EMPTY, concat, from, map, NEVER, of, timer } from "rxjs";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { runnerContract } from "../runtime/runners/contract.ts";
import { aRequest, contractGraceMs, type Scenario } from "../runtime/runners/shell-runs.ts";
import { anOutput, fakeRunner, type FakeRun } from "./fake-runner.ts";

const usage = { model: "fake", tokens: 7, costUsd: null, turns: 1 };

function runOf(request: RunRequest): FakeRun {
  const lines = (...texts: string[]) => from(texts.map((text) => anOutput(request, text)));
  const forever$ = concat(lines("ready"), NEVER);
  const ending = (exit: NonNullable<FakeRun["exit"]>): FakeRun => ({ event$: EMPTY, exit });
  const rejected = (reason: string) => ending({ exitCode: null, rejected: reason });
  const working$ = of({ type: "status-text", text: "working" } as const);
  const ids$ = Array.from({ length: 20 }, () =>
    timer(1).pipe(map(() => anOutput(request, request.instanceId))),
  );
  const runs: Record<Scenario, FakeRun> = {
    "three-lines": { event$: concat(lines("one", "two", "three"), working$), exit: { usage } },
    chatter: { event$: concat(...ids$) },
    "exit-7": ending({ exitCode: 7 }),
    "no-account": ending({ error: "the run ended without its account" }),
    "own-error": ending({ exitCode: 1, error: "model is tired" }),
    returns: ending({ value: { text: "a b" }, rerun: true }),
    "closed-output": ending({ exitCode: 3 }),
    "leaves-process": { event$: lines("bye") },
    "large-job": { event$: lines("3000001") },
    "ends-on-term": { event$: forever$ },
    "ignores-term": { event$: forever$, endsAfterStop: timer(contractGraceMs) },
    "cannot-prepare": rejected("credential github_token is missing"),
    "cannot-start": rejected("no such engine"),
    "huge-line": { event$: lines("x".repeat(32_000), "after") },
    garbage: { event$: lines("\ufffd", "after") },
  };
  return runs[request.agent.title as Scenario];
}

runnerContract("the fake runner", () => {
  const runner = fakeRunner(runOf);
  return {
    runner,
    request: aRequest,
    leftovers: (id) => Promise.resolve(runner.live.has(id) ? [id] : []),
  };
});
