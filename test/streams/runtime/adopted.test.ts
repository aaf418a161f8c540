import type { AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { inVirtualTime, type Marbles } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, graphOf, only } from "../graph.ts";

/** A run of an earlier scheduler that takes five more columns; its work's digit is 3. */
function adoptedRun({ scheduler }: Marbles, agent: string): AdoptedRun {
  const request = { instanceId: `${agent}-9`, agent: anAgent(agent), item: anItem("3", agent) };
  const runner = timedRunner(scheduler, 5);
  return { request, startedAt: 0, report: (stop$) => runner.run(request, stop$) };
}

test(
  "a run of an earlier scheduler keeps the work of its agent waiting like any other run",
  inVirtualTime((helpers) => {
    const { hot, cold, scheduler, expectObservable } = helpers;
    const manual = "  -12";
    const stopping = "-------s";
    const started = " 3----1----|";
    const finished = "-----3----(1|)";
    const event$ = graphOf(scheduler, {
      adopted$: cold("(x|)", { x: adoptedRun(helpers, "a") }),
      agentChange$: cold("a", { a: changeOf("a") }),
      manual$: hot(manual, { 1: anItem("1", "a"), 2: anItem("2", "a") }),
      stopping$: hot(stopping),
    });
    expectObservable(only(event$, "started")).toBe(started);
    expectObservable(only(event$, "finished")).toBe(finished);
  }),
);

test(
  "a run of an earlier scheduler continues for a removed agent, and the graph waits for it when it stops",
  inVirtualTime((helpers) => {
    const { hot, cold, scheduler, expectObservable } = helpers;
    const event$ = graphOf(scheduler, {
      adopted$: cold(" (x|)", { x: adoptedRun(helpers, "z") }),
      stopping$: hot(" --s"),
    });
    expectObservable(only(event$, "started")).toBe(" 3----|");
    expectObservable(only(event$, "finished")).toBe("-----(3|)");
  }),
);
