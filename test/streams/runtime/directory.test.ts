import { of, type Observable } from "rxjs";
import type { BuildEvent } from "../../../streams/vocabulary.ts";
import type { RuntimePorts } from "../../../streams/runtime.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, shows } from "../graph.ts";

/** Notes the title of the config that each run was started with. */
const noting =
  (titles: string[]) =>
  ({ scheduler }: Marbles): Partial<RuntimePorts> => ({
    runner: {
      run: (request, stop$) => {
        titles.push(request.agent.title);
        return timedRunner(scheduler, 5).run(request, stop$);
      },
    },
  });

test.each<[does: string, ...Parameters<typeof shows>]>([
  [
    "finishes the run of a removed agent, holds its queue for a minute, then drops it",
    {
      changes: " a--A",
      webhooks: "-12-3",
      started: " -1",
      finished: "------1",
      refused: " 3ms 1m (23)",
    },
  ],
  [
    "holds work from before a restart for a minute if the agent's directory is missing, then drops it",
    { changes: " A", manual: "  -12", refused: " 1m (12)", started: "-" },
  ],
  [
    "runs work from before a restart once the directory exists",
    {
      changes: " A-- 59s a",
      manual: "  -12",
      started: " --- 59s 1----2",
      refused: "-",
    },
  ],
  [
    "rejects work for an agent that was removed over a minute ago, until it returns",
    {
      changes: "        a--A 2m -a",
      webhooks: "       -1-- 2m 3--2",
      started: "        -1-- 2m ---2",
      refused: "        ---- 2m 3",
      "agent-set": "    a--- 2m -a",
      "agent-removed": "---a",
    },
  ],
  [
    "holds the work of an agent without a valid config until it has one",
    { changes: " i----a", webhooks: "-1-2", started: " -----1----2" },
  ],
])("the scheduler %s", (_does, ...all) => shows(...all));

test("the scheduler lets a run keep the config it started with, and gives the next run the new one", () => {
  const titles: string[] = [];
  shows(
    {
      changes: " a-c",
      webhooks: "-12",
      finished: "------1----2",
      configs: { c: changeOf("a", { title: "new" }) },
    },
    { ports: noting(titles) },
  );
  expect(titles).toEqual(["a", "new"]);
});

test("the scheduler builds an image again only if it changed, and none for an agent with scale 0", () => {
  const runtime = { type: "container", runAs: "al-agent" } as const;
  const prepare = (): Observable<BuildEvent> =>
    of({ type: "build-finished", error: null, usable: true });
  shows(
    {
      changes: "         a-b-c-c-i-A-c-d-c",
      "build-finished": "a---a-----------a",
      configs: {
        a: changeOf("a", { runtime }),
        b: changeOf("a", { runtime, title: "new" }),
        c: changeOf("a", { runtime, dockerfileHash: "1" }),
        d: changeOf("a", { runtime, dockerfileHash: "1", scale: 0 }),
      },
    },
    { ports: () => ({ prepare }) },
  );
});
