import { EMPTY, concat, from, map, NEVER, of, timer } from "rxjs";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { runnerContract } from "../runtime/runners/contract.ts";
import { contractGraceMs, type Scenario } from "../runtime/runners/scenarios.ts";
import { anAgent, anItem } from "./agents.ts";
import { anOutput, fakeRunner, type FakeRun } from "./fake-runner.ts";

const usage = { model: "fake", tokens: 7, costUsd: null, turns: 1 };

function runOf(scenario: string, request: RunRequest): FakeRun {
  const lines = (...texts: string[]) => from(texts.map((text) => anOutput(request, text)));
  const forever$ = concat(of(anOutput(request, "ready")), NEVER);
  const runs: Record<Scenario, FakeRun> = {
    "three-lines": {
      event$: concat(
        lines("one", "two", "three"),
        of({ type: "status-text", text: "working" } as const),
      ),
      exit: { usage },
    },
    chatter: {
      event$: concat(
        ...Array.from({ length: 20 }, () =>
          timer(1).pipe(map(() => anOutput(request, request.instanceId))),
        ),
      ),
    },
    "exit-7": { event$: EMPTY, exit: { exitCode: 7 } },
    "own-error": { event$: EMPTY, exit: { exitCode: 1, error: "model is tired" } },
    returns: { event$: EMPTY, exit: { value: { text: "a b" }, rerun: true } },
    "ends-on-term": { event$: forever$ },
    "ignores-term": { event$: forever$, endsAfterStop: timer(contractGraceMs) },
    "cannot-start": { event$: EMPTY, exit: { exitCode: null, rejected: "no such engine" } },
    "huge-line": { event$: lines("x".repeat(32_000), "after") },
    garbage: { event$: lines("\ufffd", "after") },
  };
  return runs[scenario as Scenario];
}

runnerContract("the fake runner", () => {
  let count = 0;
  const runner = fakeRunner((request) => runOf(request.agent.title, request));
  return Promise.resolve({
    runner,
    request: (scenario) => ({
      instanceId: `dev-${++count}`,
      agent: anAgent("dev", { title: scenario }),
      item: anItem("1"),
    }),
    leftovers: (id) => Promise.resolve(runner.live.has(id) ? [id] : []),
    dispose: () => Promise.resolve(),
  });
});
