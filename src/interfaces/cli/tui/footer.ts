import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { cut, pad, widthOf } from "../terminal/fit.ts";
import { bindings } from "./keys.ts";
import type { ScreenStyle } from "./screen.ts";
import { shownAgents } from "./view-state.ts";
import type { Question, ViewState } from "./view-state.ts";

export interface FooterFacts {
  readonly view: Pick<ViewState, "message" | "question" | "search" | "isSearching">;
  readonly snapshot: StatusSnapshot;
  /** What a stop waits for; null while it doesn't stop. */
  readonly stopping: string | null;
}

/** The last line: a question, what just happened, what a stop waits for, or else the keys. */
export function footer(facts: FooterFacts, style: ScreenStyle): string {
  const { view, stopping } = facts;
  const { colors, columns } = style;
  const line = () => {
    if (view.question !== null) return colors.yellow(questionText(view.question, facts));
    if (view.isSearching) return searchText(view.search ?? "", facts);
    if (stopping !== null) return colors.yellow(stopping);
    if (view.message === null) return keysText(facts, style);
    const { text, isError } = view.message;
    return (isError ? colors.red : colors.green)(plainLine(text));
  };
  return cut(line(), columns);
}

function questionText({ command, agent }: Question, { snapshot }: FooterFacts): string {
  if (command === "run") return `Run ${agent}? y/n`;
  if (command === "disable") return `Disable ${agent}? y/n`;
  const running = snapshot.agents.find(({ name }) => name === agent)?.running ?? 0;
  return `End ${running === 1 ? "the run" : `${running} runs`} of ${agent}? y/n`;
}

/** The words that are typed, and how many agents have them. */
function searchText(search: string, { snapshot: { agents } }: FooterFacts): string {
  const found = shownAgents(agents, { search }).length;
  return `/${plainLine(search)}▏  ${found} of ${agents.length} · Enter keeps it, Esc ends it`;
}

/** The keys; before them the search, while one leaves agents out. */
function keysText({ view: { search } }: FooterFacts, { columns, colors }: ScreenStyle): string {
  if (search === null) return shortKeys(columns, colors);
  const kept = `/${plainLine(search)} (Esc: all)  `;
  return colors.yellow(kept) + shortKeys(Math.max(0, columns - widthOf(kept)), colors);
}

/** What a stop waits for; first what the person can do about it, because the names may be many. */
export function stoppingText({ scheduler, agents }: StatusSnapshot, leftMs: number): string {
  if (scheduler.running === 0) return "Stopping …";
  const names = agents.filter(({ running }) => running > 0).map(({ name }) => name);
  const runs = counted(scheduler.running, "run");
  const left = Math.max(0, Math.ceil(leftMs / 1000));
  return `Stopping (Ctrl-C: now): waits ${left}s for ${runs}: ${names.join(", ")}`;
}

/** As many keys as fit, the help and the way out always among them. */
function shortKeys(columns: number, colors: Colors): string {
  const all = bindings.flatMap(({ shown, short }) =>
    short === undefined ? [] : [{ shown: shown.split(", ")[0] ?? shown, short }],
  );
  const last = all.filter(({ short }) => short === "help" || short === "quit");
  const kept = all.filter((key) => !last.includes(key));
  const text = (keys: typeof all) =>
    keys.map(({ shown, short }) => `${colors.bold(shown)} ${colors.dim(short)}`).join("  ");
  while (kept.length > 0 && widthOf(text([...kept, ...last])) > columns) kept.pop();
  return text([...kept, ...last]);
}

/** All keys; `rows` lines in all. */
export function help(style: ScreenStyle): string[] {
  const { columns, rows, colors } = style;
  const keys = bindings.map(({ shown, does }) => `  ${colors.bold(pad(shown, 9))} ${does}`);
  const lines = [colors.bold("Keys"), "", ...keys].slice(0, rows - 1);
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  return [...lines, ...blank, colors.dim("Esc goes back")].map((line) => cut(line, columns));
}
