import type { AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { shows } from "../graph.ts";

/** A run of an earlier scheduler that takes five more columns; its work's digit is 3. */
function adoptedRun({ scheduler }: Marbles, agent: string): AdoptedRun {
  const request = { instanceId: `${agent}-9`, agent: anAgent(agent), item: anItem("3", agent) };
  const runner = timedRunner(scheduler, 5);
  return { request, startedAt: 0, report: (stop$) => runner.run(request, stop$) };
}

test.each<[does: string, agent: string, drawing: Parameters<typeof shows>[0]]>([
  [
    "keeps its agent's work queued, like any other run",
    "a",
    {
      changes: " a",
      manual: "  -12",
      stopping: "-------s",
      started: " 3----1----|",
      finished: "-----3----(1|)",
    },
  ],
  [
    "continues for a removed agent, and the scheduler waits for it when it stops",
    "z",
    { stopping: "--s", started: " 3----|", finished: "-----(3|)" },
  ],
])("a run of an earlier scheduler %s", (_does, agent, drawing) =>
  shows(drawing, {
    sources: (helpers) => ({
      adopted$: helpers.cold("(x|)", { x: adoptedRun(helpers, agent) }),
    }),
  }),
);
