import { defer, of, tap, map, delay, type Observable } from "rxjs";
import { agentChanges } from "../../../streams/agents/agent-changes.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles, type Marbles } from "../../helpers/marbles.ts";

/**
 * A letter of `saves` is what somebody saves: a small one is written to the agent dev, a capital one to the agent
 * ops. `x` and `X` remove the directory, `i` and `I` are invalid, `m` and `M` use the project's model. The changes
 * that come out carry the same letters.
 */
interface Project {
  readonly saves: string;
  /** The active model, over time. */
  readonly models?: string;
  /** The files at the start. */
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

test.each<[what: string, project: Project, expected: string]>([
  [
    "begin with the agents that exist at the start",
    { saves: "-------|", models: "p|", initial: "aB" },
    "(aB)---|",
  ],
  ["emit the last save before they complete", { saves: "a--|", models: "(p|)" }, "40ms (a|)"],
  [
    "wait until a file is unchanged for 40 ms, and emit no error about an incomplete file",
    { saves: "-i-b-c" },
    "----- 40ms c",
  ],
  [
    "read an agent again if it is saved while it is read",
    { saves: "a 99ms b", readMs: 100 },
    "100ms 40ms 100ms b",
  ],
  ["omit a save that changes nothing", { saves: "a 99ms a 99ms b" }, "40ms a 99ms - 99ms b"],
  [
    "emit that an agent is invalid, removed and back",
    { saves: "a 99ms i 99ms x 99ms a" },
    "40ms a 99ms i 99ms x 99ms a",
  ],
  ["omit the removal of an unknown agent", { saves: "x 99ms x" }, "-"],
  [
    "emit a change of the project's config for the agents that it affects",
    { saves: "-", models: "p------q---p", initial: "mB" },
    "(mB)---m---m",
  ],
])("agent changes %s", (_what, project, expected) =>
  marbles((helpers) => helpers.expectObservable(changes(helpers, project)).toBe(expected)),
);
