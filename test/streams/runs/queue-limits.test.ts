import { map } from "rxjs";
import type { Observable } from "rxjs";
import { describe, it } from "vitest";
import type { QueueLimits } from "../../../streams/runs/queue-latest.ts";
import { queueLimits } from "../../../streams/runs/queue-limits.ts";
import type { LimitSources } from "../../../streams/runs/queue-limits.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles, seconds } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";

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

function limits({ hot, cold, scheduler }: Marbles, lines: Lines): Observable<QueueLimits> {
  return queueLimits({
    agent$: hot(seconds(lines.agent), agents),
    enabled$: cold(seconds(lines.enabled ?? "y"), yesNo),
    usable$: cold(seconds(lines.usable ?? "n"), yesNo),
    waits$: cold(seconds(lines.waits ?? "n"), yesNo),
    draining$: cold(seconds(lines.draining ?? "n"), yesNo),
    beside$: cold(seconds(lines.beside ?? "0"), { "0": 0, "1": 1, "2": 2, "3": 3 }),
    scheduler,
  });
}

/** `o` open, `h` held, `x` closed. */
function modes(helpers: Marbles, lines: Lines): Observable<string> {
  const letters = { open: "o", held: "h", closed: "x" };
  return limits(helpers, lines).pipe(map(({ mode }) => letters[mode]));
}

describe("the limits of an agent's queue", () => {
  it("are those of the active config", () =>
    marbles((helpers) => {
      const lines = { agent: "    -a-2-a" };
      const sizes = seconds("     -h-n-h");
      const scales = seconds("    -1-2-1");
      const limit$ = limits(helpers, lines);
      const letters = { h: 100, n: 9, "1": 1, "2": 2 };
      helpers.expectObservable(limit$.pipe(map(({ size }) => size)), "9s !").toBe(sizes, letters);
      helpers
        .expectObservable(limit$.pipe(map(({ scale }) => scale)), "9s !")
        .toBe(scales, letters);
    }));

  it("hold while the agent is disabled or has scale 0", () =>
    marbles((helpers) => {
      const disabled = { agent: "a", enabled: "n--y--n" };
      const expected = seconds("               h--o--h");
      helpers.expectObservable(modes(helpers, disabled)).toBe(expected);
      helpers.expectObservable(modes(helpers, { agent: "a--z--a" })).toBe(seconds("o--h--o"));
    }));

  it("hold while the scheduler drains", () =>
    marbles((helpers) => {
      const lines = { agent: " a", draining: "n--y" };
      const expected = seconds("              o--h");
      helpers.expectObservable(modes(helpers, lines)).toBe(expected);
    }));

  it("hold what a restart left while there is no good config, up to a thousand", () =>
    marbles((helpers) => {
      const lines = { agent: " n--a" };
      const expected = seconds("h--o");
      helpers.expectObservable(modes(helpers, lines)).toBe(expected);
      const size$ = limits(helpers, lines).pipe(map(({ size }) => size));
      helpers.expectObservable(size$).toBe(expected, { h: 1000, o: 100 });
    }));

  it("close a minute after the directory went", () =>
    marbles((helpers) => {
      const lines = { agent: "    -a---g" };
      const expected = `${seconds("-o---h")} 59s x`;
      helpers.expectObservable(modes(helpers, lines)).toBe(expected);
      const nameless = { agent: " -n---m" };
      helpers.expectObservable(modes(helpers, nameless)).toBe(`${seconds("-h---h")} 59s x`);
    }));

  it("open again when it comes back, within the minute and later", () =>
    marbles((helpers) => {
      const soon = { agent: `a-g-${"-".repeat(57)}a---` };
      const late = { agent: `a-g-${"-".repeat(59)}a---` };
      helpers.expectObservable(modes(helpers, soon)).toBe(`${seconds("o-h")} 58s o`);
      helpers.expectObservable(modes(helpers, late)).toBe(`${seconds("o-h")} 59s ${seconds("xo")}`);
    }));

  it("close even while the agent is disabled or the scheduler drains", () =>
    marbles((helpers) => {
      const disabled = { agent: "a-g", enabled: "n" };
      const draining = { agent: "a-g", draining: "y" };
      const expected = `${seconds("h-h")} 59s x`;
      helpers.expectObservable(modes(helpers, disabled)).toBe(expected);
      helpers.expectObservable(modes(helpers, draining)).toBe(expected);
    }));

  it("count the minute from the last time that it went", () =>
    marbles((helpers) => {
      const lines = { agent: `g${"-".repeat(29)}ag` };
      const expected = `h 29s 999ms ${seconds("oh")} 59s x`;
      helpers.expectObservable(modes(helpers, lines)).toBe(expected);
    }));

  it("follow a burst to its end", () =>
    marbles((helpers) => {
      helpers.expectObservable(modes(helpers, { agent: "-(agaga)" })).toBe(`1s (ohoho)`);
    }));

  it("hold an agent in a container, and no other, until there is an image", () =>
    marbles((helpers) => {
      const usable = "n-y";
      helpers.expectObservable(modes(helpers, { agent: "c", usable })).toBe("h 1999ms o");
      helpers.expectObservable(modes(helpers, { agent: "a", usable })).toBe("o 1999ms o");
    }));

  it("leave room for what runs beside the queue, and never go below none", () =>
    marbles((helpers) => {
      const lines = { agent: "2", beside: "0-1-3-2-0" };
      const scales = seconds("        2-1-0-0-2");
      const letters = { "0": 0, "1": 1, "2": 2 };
      const scale$ = limits(helpers, lines).pipe(map(({ scale }) => scale));
      helpers.expectObservable(scale$, "12s !").toBe(scales, letters);
    }));

  it("are silent with an empty source, and pass an error on", () =>
    marbles((helpers) => {
      helpers.expectObservable(modes(helpers, { agent: "--|" })).toBe("");
      helpers.expectObservable(modes(helpers, { agent: "a-#" })).toBe("o 1999ms #");
    }));

  it("hold it while the agent waits for money", () =>
    marbles((helpers) => {
      const lines = { agent: "a------", waits: "n--y--n" };
      helpers.expectObservable(modes(helpers, lines), "7s !").toBe(seconds("o--h--o"));
    }));

  it("leave no timer behind when they are unsubscribed, and start anew for the next subscriber", () =>
    marbles((helpers) => {
      const { expectObservable, expectSubscriptions, hot, cold, scheduler } = helpers;
      const agent$ = hot(seconds("g----------a-g"), agents);
      const mode$ = queueLimits({
        agent$,
        enabled$: cold("y", yesNo),
        usable$: cold("n", yesNo),
        waits$: cold("n", yesNo),
        draining$: cold("n", yesNo),
        beside$: cold("0", { "0": 0 }),
        scheduler,
      }).pipe(map(({ mode }) => mode[0]));
      expectObservable(mode$, "5s !").toBe("h");
      expectObservable(mode$, "10s ^").toBe("11s o 1999ms h 59s 999ms c");
      expectSubscriptions(agent$.subscriptions).toBe(["^ 4999ms !", "10s ^"]);
    }));
});
