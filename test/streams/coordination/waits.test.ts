import { map } from "rxjs";
import { describe, it } from "vitest";
import { createClock } from "../../../streams/clock.ts";
import type { Occurrence } from "../../../streams/coordination/condition.ts";
import { waits } from "../../../streams/coordination/waits.ts";
import type { Wait, WaitCommand, WaitEvent } from "../../../streams/coordination/waits.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";

function aWait(key: string, more: Partial<Wait> = {}): WaitCommand {
  const agent = key.charAt(0);
  const condition = { kind: "webhook", source: "gh" } as const;
  const wait = { key, instanceId: `${agent}-1`, agent, condition, since: 0, until: 100, ...more };
  return { type: "wait", wait };
}

function offer(id: string, more: Partial<Occurrence> = {}): WaitCommand {
  const occurrence = { kind: "webhook", agent: null, source: "gh", event: "push", payload: {} };
  return { type: "offer", id, occurrence: { ...occurrence, ...more } as Occurrence };
}

const commands: Record<string, WaitCommand> = {
  a: aWait("a1"),
  A: aWait("a2", { instanceId: "a-2" }),
  b: aWait("b1"),
  c: aWait("a3", { condition: { kind: "agent-call" } }),
  s: aWait("a1", { until: 6 }),
  x: { type: "cancel", key: "a1" },
  e: { type: "ended", instanceId: "a-1" },
  o: offer("o"),
  p: offer("p"),
  q: offer("q", { source: "lab" }),
  d: offer("d", { kind: "agent-call", agent: "a", source: "ops" }),
  D: offer("d", { kind: "agent-call", agent: "b", source: "ops" }),
  t: { type: "taken", id: "o" },
  u: { type: "taken", id: "p" },
  T: { type: "taken", id: "d" },
  n: { type: "not-taken", id: "o" },
};

function words(event: WaitEvent): string {
  switch (event.type) {
    case "offered":
      return `${event.id} to ${event.to.map(({ key }) => key).join()}`;
    case "met":
      return `${event.wait.key} met by ${event.id}`;
    default:
      return `${event.wait.key} ${event.type}`;
  }
}

const said = {
  a: "a1 waiting",
  A: "a2 waiting",
  b: "b1 waiting",
  c: "a3 waiting",
  x: "a1 timed-out",
  n: "o to ",
  o: "o to a1",
  O: "o to a1,b1",
  B: "o to a2",
  p: "p to a2",
  P: "p to ",
  Q: "p to a1",
  q: "q to ",
  d: "d to a3",
  D: "d to ",
  m: "a1 met by o",
  M: "b1 met by o",
  "2": "a2 met by p",
  "3": "a3 met by d",
  "4": "a2 met by o",
};

function waited({ hot, scheduler }: Marbles, line: string) {
  return hot(line, commands).pipe(waits(createClock(scheduler)), map(words));
}

describe("a wait", () => {
  it.each([
    ["is met by what it is for, once that is committed", "-a-o--t", "-a-o--m"],
    ["is not met by anything else", "                      -a-q-D-", "-a-q-D-"],
    ["is met once", "                                      -a-ot-p", "-a-om-P"],
    ["is the oldest of its agent that is met first", "     -aA-otpu", "-aA-omp2"],
    ["is met beside those of other agents", "              -ab-ot", "-ab-O(mM)"],
    ["is offered one thing at a time", "                   -aA-op-t-u", "-aA-op-m-2"],
    ["goes on when what it was offered is not taken", "    -aA-on-p", "-aA-o--Q"],
    ["is met by a call of its own agent", "                -c-dT", "-c-d3"],
    ["is not met by a call of another", "                  -c-DT", "-c-D-"],
    ["ends when its time is up", "                         -s-----o", "-a----xn"],
    ["does not end while it may be met", "                 -s--o----t", "-a--o----m"],
    ["ends late when it was not taken", "                  -s--o----n", "-a--o----x"],
    ["is forgotten when nobody wants it", "                -aAx-o", "-aA--B"],
    ["is forgotten when its run ends", "                   -aAe-o", "-aA--B"],
    ["is over with its run, whatever it was offered", "    -a-oen-p", "-a-o---P"],
    ["is over when given up, whatever it was offered", "   -a-oxn-p", "-a-o---P"],
    ["is met by nothing once its run ended", "             -a-oet", "-a-o--"],
  ])("%s", (_what, line, expected) =>
    marbles((helpers) => {
      const unsubscribed = "-------------------!";
      helpers.expectObservable(waited(helpers, line), unsubscribed).toBe(expected, said);
    }),
  );
});

describe("the waits of a stream of commands", () => {
  it("say nothing when nothing is asked, and end and fail with it", () =>
    marbles((helpers) => {
      helpers.expectObservable(waited(helpers, "-----"), "------!").toBe("-----");
      helpers.expectObservable(waited(helpers, "-s-|")).toBe("-a-|", said);
      helpers.expectObservable(waited(helpers, "-s-#")).toBe("-a-#", said);
    }));

  it("leave no timer behind when nobody listens any more, and start anew for the next", () =>
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const command$ = cold("-s---", commands);
      const event$ = command$.pipe(waits(createClock(scheduler)), map(words));
      expectObservable(event$, "---!").toBe("-a-", said);
      expectObservable(event$, "----^------!").toBe("-----ax", said);
      expectSubscriptions(command$.subscriptions).toBe(["^--!", "----^------!"]);
    }));

  it("answer a burst in order", () =>
    marbles((helpers) => {
      const line = "-(aAboptu)";
      const values = { ...said, o: "o to a1,b1", "2": "a2 met by p" };
      const unsubscribed = "-------------------!";
      helpers.expectObservable(waited(helpers, line), unsubscribed).toBe("-(aAbopmM2)", values);
    }));
});
