import { EMPTY, mergeMap } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { BuildEvent } from "../../../streams/vocabulary.ts";
import { inVirtualTime, marbles, minutes, type Marbles } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, drawn, shows, ticking } from "../graph.ts";

const runtime = { type: "container", runAs: "al-agent" } as const;

/** `b` a build starts, `y` it succeeded, `n` no image can be had. */
const built: Record<string, BuildEvent> = {
  b: { type: "build-started", text: "building" },
  n: { type: "build-finished", error: "no engine", usable: false },
  y: { type: "build-finished", error: null, usable: true },
};

/** The builds of the agents that need an image. */
const builds =
  (diagramFor: (config: AgentConfig) => string) =>
  ({ cold }: Marbles) => ({
    prepare: (config: AgentConfig) => {
      const diagram = diagramFor(config);
      return diagram === "" ? EMPTY : cold(diagram, built);
    },
  });

test.each<[does: string, ...Parameters<typeof shows>]>([
  [
    "holds the queue of a disabled agent only, and lets the run finish",
    {
      changes: "        (ab)",
      enabled: "        -----d-----e",
      webhooks: "       ----12-6",
      started: "        ----1--6---2",
      finished: "       ---------1--6---2",
      "agent-enabled": "-----d-----e",
    },
  ],
  [
    "holds a container agent's queue while an image is built, and without an engine",
    {
      changes: " a",
      webhooks: "--1--2----(34)",
      started: " --1----2------(34)",
      configs: { a: changeOf("a", { runtime, scale: 9 }) },
    },
    { ports: builds(() => "-y--b--y-n----y") },
  ],
  [
    "holds a container agent's queue as soon as its image's files are saved",
    {
      changes: " a---b",
      webhooks: "-----1",
      started: " ---------1",
      configs: {
        a: changeOf("a", { runtime }),
        b: changeOf("a", { runtime, dockerfileHash: "1" }),
      },
    },
    { ports: builds(({ dockerfileHash }) => (dockerfileHash === null ? "-y" : "--b--y")) },
  ],
  [
    "starts no waiting work while new work is paused, and lets runs finish",
    {
      changes: " a",
      webhooks: "-12",
      started: " -1--------2",
      finished: "------1--------2",
    },
    {
      sources: ({ cold }) => ({
        workPausedAfter$: cold("n--y------n", { n: null, y: 0 }),
      }),
    },
  ],
  [
    "has no ticks while paused however often agents are reloaded, and ticks afterwards",
    {
      changes: " ab-abab-Aacab-aba",
      paused: "  -y------------n",
      started: " ---------------c--c",
      configs: {
        a: ticking(),
        b: ticking({ title: "b" }),
        c: ticking({ schedule: "*/6 * * * *" }),
      },
    },
    { minutes: 19 },
  ],
  [
    "kills the runs of an agent, one instance, or everything, and continues with the queue",
    {
      changes: " (ab)",
      webhooks: "----16-2-3",
      kills: "   ------f--a--x",
      started: " ----16-2-3",
      finished: "------1--2--(63)",
    },
    { ports: ({ scheduler }) => ({ runner: timedRunner(scheduler, 99) }) },
  ],
])("the scheduler %s", (_does, ...all) => shows(...all));

test("the scheduler emits agent-enabled after agent-set for an agent that was already disabled", () => {
  const said: string[] = [];
  const ports = { isEnabled: () => false };
  marbles((helpers) => {
    drawn(helpers, { changes: "a" }, ports).subscribe(({ type }) => said.push(type));
  });
  expect(said.slice(0, 2)).toEqual(["agent-set", "agent-enabled"]);
  const lines = { changes: "a", webhooks: "-1", enabled: "----e", started: "----1" };
  shows(lines, { ports: () => ports });
});

test(
  "the scheduler runs each agent at each tick though all slots are in use, and marks late runs",
  inVirtualTime((helpers) => {
    const due = (name: string) => changeOf(name, { schedule: "*/6 * * * *" });
    const configs = { a: due("a"), b: due("b"), i: due("c") };
    const runner = timedRunner(helpers.scheduler, 2 * 60_000);
    const ports = { runner, slots: createSlots(1) };
    const started$ = drawn(helpers, { changes: "abi", configs }, ports, minutes).pipe(
      mergeMap((event) => {
        if (event.type !== "started" || event.item.trigger.kind !== "cron") return [];
        return event.item.trigger.slotsInUse === 1 ? event.agent.toUpperCase() : event.agent;
      }),
    );
    helpers.expectObservable(started$, "15m !").toBe(minutes("------a-B-C-a-B"));
  }),
);
