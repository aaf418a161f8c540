import { map, type Observable } from "rxjs";
import type { QueueLimits } from "../../../streams/runs/queue-latest.ts";
import { queueLimits, type LimitSources } from "../../../streams/runs/queue-limits.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles, seconds, type Marbles } from "../../helpers/marbles.ts";

type Agent = LimitSources["agent$"] extends Observable<infer T> ? T : never;

/** `a` there, `g` gone, `n` there without a good config, `m` gone without one, `z` scale 0, `c` in a container, `2` scale 2 and size 9. */
const agents: Record<string, Agent> = {
  a: { config: anAgent("dev"), present: true },
  g: { config: anAgent("dev"), present: false },
  n: { config: null, present: true },
  m: { config: null, present: false },
  z: { config: anAgent("dev", { scale: 0 }), present: true },
  c: { config: anAgent("dev", { runtime: { type: "container", runAs: "" } }), present: true },
  "2": { config: anAgent("dev", { scale: 2, queueSize: 9 }), present: true },
};
const yesNo = { y: true, n: false };

interface Lines {
  readonly agent: string;
  readonly enabled?: string;
  readonly usable?: string;
  readonly waits?: string;
  readonly draining?: string;
  readonly beside?: string;
}

function limits(
  { hot, cold, scheduler }: Marbles,
  lines: Lines,
  agent$: Observable<Agent> = hot(seconds(lines.agent), agents),
): Observable<QueueLimits> {
  return queueLimits({
    agent$,
    enabled$: cold(seconds(lines.enabled ?? "y"), yesNo),
    usable$: cold(seconds(lines.usable ?? "n"), yesNo),
    waits$: cold(seconds(lines.waits ?? "n"), yesNo),
    draining$: cold(seconds(lines.draining ?? "n"), yesNo),
    beside$: cold(seconds(lines.beside ?? "0"), { "0": 0, "1": 1, "2": 2, "3": 3 }),
    scheduler,
  });
}

/** `o` open, `h` held, `x` closed. */
const modes = { open: "o", held: "h", closed: "x" } as const;

/** Expects these modes, each a second long; `more` begins when their time is over. */
function expectModes(lines: Lines, expected: string, more = "", until = "200s !"): void {
  marbles((helpers) => {
    const mode$ = limits(helpers, lines).pipe(map(({ mode }) => modes[mode]));
    helpers.expectObservable(mode$, until).toBe(`${seconds(expected)} ${more}`);
  });
}

test.each<[name: string, lines: Lines, expected: string, more?: string]>([
  ["is held while the agent is disabled", { agent: "a", enabled: "n--y--n" }, "h--o--h"],
  ["is held while the agent has scale 0", { agent: "a--z--a" }, "o--h--o"],
  ["is held while the scheduler drains", { agent: "a", draining: "n--y" }, "o--h"],
  ["is held while the agent waits for budget", { agent: "a", waits: "n--y--n" }, "o--h--o"],
  [
    "of an agent in a container is held until its image is built",
    { agent: "c", usable: "n-y" },
    "h-o",
  ],
  ["does not wait for an image that is not needed", { agent: "a", usable: "n-y" }, "o-o"],
  ["closes a minute after the directory is removed", { agent: "-a---g" }, "-o---h", "59s x"],
  ["closes after the removal even without a valid config", { agent: "-n---m" }, "-h---h", "59s x"],
  [
    "closes after the removal even while the scheduler drains",
    { agent: "a-g", draining: "y" },
    "h-h",
    "59s x",
  ],
  [
    "opens again when the directory returns after the minute",
    { agent: `a-g-${"-".repeat(59)}a---` },
    "o-h",
    `59s ${seconds("xo")}`,
  ],
  [
    "counts the minute from the last removal",
    { agent: `g${"-".repeat(29)}ag` },
    "h",
    `29s ${seconds("oh")} 59s x`,
  ],
])("an agent's queue %s", (_name, lines, expected, more) => expectModes(lines, expected, more));

test.each<[name: string, lines: Lines, of: "size" | "scale", expected: string]>([
  ["takes the size of the active config", { agent: "-a-2-a" }, "size", "-h-9-h"],
  ["allows a thousand items without a valid config", { agent: "n--a" }, "size", "t--h"],
  [
    "subtracts adopted runs from the scale",
    { agent: "2", beside: "0-1-3-2-0" },
    "scale",
    "2-1-0-0-2",
  ],
])("an agent's queue %s", (_name, lines, of, expected) =>
  marbles((helpers) => {
    const values = { h: 100, t: 1000, "9": 9, "0": 0, "1": 1, "2": 2 };
    const value$ = limits(helpers, lines).pipe(map((limit) => limit[of]));
    helpers.expectObservable(value$, "20s !").toBe(seconds(expected), values);
  }),
);
