import { defer, of, tap, throwError, map, delay } from "rxjs";
import type { Observable } from "rxjs";
import { describe, it } from "vitest";
import { agentChanges } from "../../../streams/agents/agent-changes.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";

/**
 * A letter of `saves` is what somebody saves: a small one is written to the agent dev, a capital one to the agent
 * ops. `x` and `X` remove the directory, `i` and `I` are invalid, `m` and `M` use the project's model. The changes
 * that come out carry the same letters.
 */
interface Project {
  readonly saves: string;
  /** The active model, over time. */
  readonly models?: string;
  /** What is on disk at the start. */
  readonly initial?: string;
  readonly readMs?: number;
}

function changes(helpers: Marbles, project: Project): Observable<string> {
  const { hot, cold, scheduler } = helpers;
  const initial = new Map(Array.from(project.initial ?? "", (letter) => [ownerOf(letter), letter]));
  const disk = new Map(initial);
  return agentChanges<string, string>({
    initial,
    touched$: hot(project.saves).pipe(
      tap((letter) => disk.set(ownerOf(letter), letter)),
      map(ownerOf),
    ),
    project$: cold(project.models ?? "p"),
    read: (name) =>
      defer(() => of(contentOf(disk.get(name)))).pipe(delay(project.readMs ?? 0, scheduler)),
    resolve,
    scheduler,
  }).pipe(map(letterOf));
}

function ownerOf(letter: string): string {
  return letter === letter.toLowerCase() ? "dev" : "ops";
}

function contentOf(letter: string | undefined): string | null {
  return letter === undefined || letter.toLowerCase() === "x" ? null : letter;
}

function resolve(letter: string, model: string): AgentChange {
  const name = ownerOf(letter);
  if (letter.toLowerCase() === "i") return { type: "invalid", name, problems: [], sources: [] };
  const description = letter.toLowerCase() === "m" ? model : null;
  return { type: "set", agent: anAgent(name, { title: letter, description }), warnings: [] };
}

function letterOf(change: AgentChange): string {
  if (change.type === "set") return change.agent.title;
  const letter = change.type === "removed" ? "x" : "i";
  return change.name === "dev" ? letter : letter.toUpperCase();
}

describe("agent changes", () => {
  it("complete with an empty source, after what was there at the start", () =>
    marbles((helpers) => {
      const empty$ = changes(helpers, { saves: "---|", models: "p|" });
      const two$ = changes(helpers, { saves: "-------|", models: "p|", initial: "aB" });
      helpers.expectObservable(empty$).toBe("---|");
      helpers.expectObservable(two$).toBe("  (aB)---|");
    }));

  it("read what was touched last before they complete", () =>
    marbles((helpers) => {
      const saves = "  a--|";
      const expected = "40ms (a|)";
      const project = { saves, models: "(p|)" };
      helpers.expectObservable(changes(helpers, project)).toBe(expected);
    }));

  it("wait until a file has been quiet for 40 ms, and read it once", () =>
    marbles((helpers) => {
      const saves = "  -a-b-c----------";
      const expected = "----- 40ms c----";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("let each agent settle by itself", () =>
    marbles((helpers) => {
      const saves = "   a---B----------";
      const expected = " 40ms a---B----";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("read again what is saved while it is read", () =>
    marbles((helpers) => {
      const saves = "       a 99ms b----------";
      const expected = "100ms 40ms 100ms b";
      helpers.expectObservable(changes(helpers, { saves, readMs: 100 })).toBe(expected);
    }));

  it("are silent about a save that changes nothing", () =>
    marbles((helpers) => {
      const saves = "  a 99ms a 99ms b----------------";
      const expected = "40ms a 99ms - 99ms b------------";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("say that an agent is invalid, removed and back", () =>
    marbles((helpers) => {
      const saves = "     a 99ms i 99ms x 99ms a-----------";
      const expected = "   40ms a 99ms i 99ms x 99ms a-------";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("are silent about an agent that was never there", () =>
    marbles((helpers) => {
      helpers.expectObservable(changes(helpers, { saves: "x 99ms x-----" })).toBe("-");
    }));

  it("say a change of the project's config of the agents that it touches", () =>
    marbles((helpers) => {
      const models = "  p------q---p---";
      const expected = "(mB)---m---m---";
      const project = { saves: "---------------", models, initial: "mB" };
      helpers.expectObservable(changes(helpers, project)).toBe(expected);
    }));

  it("survive a burst of a hundred saves of one agent and one of each of two", () =>
    marbles((helpers) => {
      const saves = `   ${"a".repeat(99)}b-----------`;
      const both = "    (aB)-------------";
      helpers.expectObservable(changes(helpers, { saves })).toBe("     99ms 40ms b---");
      helpers.expectObservable(changes(helpers, { saves: both })).toBe("40ms (aB)---");
    }));

  it("go on with an agent that has been quiet for longer than any timer", () =>
    marbles((helpers) => {
      const saves = "  a       2m  b----------";
      const expected = "40ms a  2m  b----------";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("pass an error of their source on", () =>
    marbles((helpers) => {
      const saves = "  a---#";
      const expected = "----#";
      helpers.expectObservable(changes(helpers, { saves })).toBe(expected);
    }));

  it("pass an error of a read or of the project on", () =>
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const parts = { initial: new Map<string, string>(), resolve, scheduler };
      const broken$ = throwError(() => "error");
      const badRead$ = agentChanges<string, string>({
        ...parts,
        touched$: hot("a"),
        project$: cold("p"),
        read: () => broken$,
      });
      const badProject$ = agentChanges<string, string>({
        ...parts,
        touched$: hot("a"),
        project$: cold("p-#"),
        read: () => of("a"),
      });
      expectObservable(badRead$).toBe("   40ms #");
      expectObservable(badProject$).toBe("--#");
    }));

  it("leave their sources, and a read under way, when they are unsubscribed", () =>
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const touched$ = hot("     a-----");
      const project$ = cold("    p-----");
      const read$ = cold("       -----a");
      const unsubscribed = "     42ms !";
      const change$ = agentChanges<string, string>({
        initial: new Map(),
        touched$,
        project$,
        read: () => read$,
        resolve,
        scheduler,
      });
      expectObservable(change$, unsubscribed).toBe("");
      expectSubscriptions(touched$.subscriptions).toBe("^ 41ms !");
      expectSubscriptions(project$.subscriptions).toBe("^ 41ms !");
      expectSubscriptions(read$.subscriptions).toBe("40ms ^-!");
    }));

  it("say everything again to the next subscriber", () =>
    marbles((helpers) => {
      const change$ = changes(helpers, { saves: "---------", initial: "aB" });
      helpers.expectObservable(change$, "^---!").toBe("         (aB)");
      helpers.expectObservable(change$, "------^-----!").toBe(" ------(aB)");
    }));
});
