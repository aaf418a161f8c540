import { map, merge, of, takeWhile, throwError } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { changedAgent, eachAgent } from "../../../streams/agents/each-agent.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";

/** A small letter sets the agent of that name, a capital one removes it. */
function changeOf(letter: string): AgentChange {
  const name = letter.toLowerCase();
  if (name !== letter) return { type: "removed", name };
  return { type: "set", agent: anAgent(name), warnings: [] };
}

function letterOf(change: AgentChange): string {
  return change.type === "set" ? change.agent.name : changedAgent(change).toUpperCase();
}

type Open = (name: string, change$: Observable<AgentChange>) => Observable<string>;

const agents = (letter$: Observable<string>, open: Open): Observable<string> =>
  letter$.pipe(map(changeOf), eachAgent(open));

/** Says `*` when it is opened, then its changes, until it is removed. */
const untilRemoved: Open = (_name, change$) =>
  merge(
    of("*"),
    change$.pipe(
      takeWhile(({ type }) => type === "set", true),
      map(letterOf),
    ),
  );

describe("each agent", () => {
  it("names the agent of every change", () => {
    const changes = [changeOf("a"), changeOf("A")];
    const invalid: AgentChange = { type: "invalid", name: "a", problems: [], sources: [] };
    expect([...changes, invalid].map(changedAgent)).toEqual(["a", "a", "a"]);
  });

  it("is opened by its first change, and anew after it was over", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -a---b---a-A-b-a----";
      const expected = " -(*a)(*b)a-A-b-(*a)-";
      expectObservable(agents(hot(changes), untilRemoved)).toBe(expected);
    }));

  it("decides by itself when it is over: one that comes back meanwhile goes on", () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const inner$ = cold("   ---------|");
      const changes = "     -a-A-a-----A-a--";
      const first = "       -^--------!";
      const second = "      -----------^--------!";
      const open: Open = () => inner$;
      expectObservable(agents(hot(changes), open)).toBe("-");
      expectSubscriptions(inner$.subscriptions).toBe([first, second]);
    }));

  it("sees its own changes only", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -a-b-b-a-";
      const expected = " -a-----a-";
      const open: Open = (name, change$) => (name === "a" ? change$.pipe(map(letterOf)) : of());
      expectObservable(agents(hot(changes), open)).toBe(expected);
    }));

  it("is told in its own order in a burst", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -(abAaBb)--";
      const expected = " -(*a*bA*aB*b)";
      expectObservable(agents(hot(changes), untilRemoved)).toBe(expected);
    }));

  it("completes once its source and every agent have", () =>
    marbles(({ hot, cold, expectObservable }) => {
      const inner = "           ------|";
      const expected = "      -------|";
      expectObservable(agents(hot("|"), untilRemoved)).toBe("|");
      expectObservable(agents(hot("-a|"), () => cold(inner))).toBe(expected);
    }));

  it("passes an error of its source or of one agent on", () =>
    marbles(({ hot, expectObservable }) => {
      const broken: Open = () => throwError(() => "error");
      expectObservable(agents(hot("-a---#"), untilRemoved)).toBe("-(*a)#");
      expectObservable(agents(hot("-a----"), broken)).toBe("       -#");
    }));

  it("ends every agent when it is unsubscribed", () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const change$ = hot("-a-b-----");
      const inner$ = cold(" ---------");
      const unsubscribed = "-----!";
      expectObservable(
        agents(change$, () => inner$),
        unsubscribed,
      ).toBe("-");
      expectSubscriptions(inner$.subscriptions).toBe(["-^---!", "---^-!"]);
      expectSubscriptions(change$.subscriptions).toBe("^----!");
    }));

  it("keeps agents of its own for each subscriber", () =>
    marbles(({ hot, expectObservable }) => {
      const agent$ = agents(hot("        -a-----a----"), untilRemoved);
      expectObservable(agent$).toBe("    -(*a)--a----");
      expectObservable(agent$, "-----^").toBe("-------(*a)-");
    }));
});
