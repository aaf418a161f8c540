import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { create, setAttribute } from "./dom.ts";
import { clockTime, exactTime, levelName } from "./format.ts";
import { requestLine, answerLine } from "./log-request-lines.ts";
import { factsOf, usageText } from "./log-facts.ts";
import { outputBlock } from "./log-output.ts";
import { inlineMarkdown } from "./markdown-view.ts";
import { runEnd, runStart } from "./log-run-lines.ts";

/** One line of the log. */
export interface LogRow {
  readonly element: HTMLElement;
  readonly level: number;
  /** What a reader can search in. */
  readonly text: () => string;
  /** Unfolds output with this text, lower case, and folds again what it unfolded when there is none. */
  reveal(text: string): void;
  /** Shows the entry as it was written, below what it says. */
  setRaw(isRaw: boolean): void;
}

/** One line of output up to this long stands beside its result. */
const inlineChars = 100;

/** Makes a line, as text of its kind; the kinds are those of a run's messages. A press on its time shows it raw. */
export function createLogRow(entry: LogEntry): LogRow {
  const level = levelName(entry.level);
  const kind = typeof entry.kind === "string" ? entry.kind : "plain";
  const row = create("div", `line ${level} kind-${/^[a-z-]+$/.test(kind) ? kind : "plain"}`);
  const at = create("button", "at", clockTime(entry.time));
  setAttribute(at, "type", "button");
  // Thousands of stops would make the page unusable by keyboard; there the button for all lines does it.
  setAttribute(at, "tabindex", "-1");
  setAttribute(at, "aria-expanded", "false");
  at.title = `${exactTime(entry.time)}: show the entry as it was written`;
  const content = create("div", "content");
  content.append(...contentOf(kind, entry));
  row.append(at, create("span", "level", level.toUpperCase()), content);

  let raw: HTMLElement | null = null;
  const setRaw = (isRaw: boolean): void => {
    if (isRaw === (raw !== null)) return;
    raw?.remove();
    raw = isRaw ? create("pre", "raw-entry", JSON.stringify(entry, null, 2)) : null;
    if (raw !== null) content.append(raw);
    setAttribute(at, "aria-expanded", String(isRaw));
  };
  at.addEventListener("click", () => setRaw(raw === null));
  return {
    ...{ element: row, level: entry.level, setRaw },
    text: () => content.textContent,
    reveal: revealing(content.querySelector("details")),
  };
}

function revealing(fold: HTMLDetailsElement | null): (text: string) => void {
  let isRevealed = false;
  return (text) => {
    if (fold === null) return;
    const isWanted = text !== "" && fold.textContent.toLowerCase().includes(text);
    // What the reader unfolded stays so.
    if (isWanted === fold.open || (fold.open && !isRevealed)) return;
    fold.open = isWanted;
    isRevealed = isWanted;
  };
}

function contentOf(kind: string, entry: LogEntry): readonly HTMLElement[] {
  if (kind === "tool") return toolCall(entry);
  if (kind === "tool-result") return toolResult(entry);
  if (kind === "usage") return [create("span", "facts", usageText(entry))];
  if (kind === "said") return [said(entry.msg)];
  if (kind === "run") return runEnd(entry) ?? runStart(entry) ?? plainLine(entry);
  return plainLine(entry);
}

/** What the model said: its emphasis and code as such, its lines as they are. */
function said(msg: string): HTMLElement {
  const text = create("span", "text");
  text.append(...inlineMarkdown(plainText(msg)));
  return text;
}

function plainLine(entry: LogEntry): readonly HTMLElement[] {
  const facts = factsOf(entry);
  const text = create("span", "text", plainText(entry.msg));
  return facts === "" ? [text] : [text, create("span", "facts", facts)];
}

function toolCall(entry: LogEntry): readonly HTMLElement[] {
  const { tool, input } = entry;
  if (typeof tool !== "string") return [create("span", "text", plainText(entry.msg))];
  // The space is for who selects and copies the line.
  const name = create("span", "tool", `${tool} `);
  const told = requestLine(tool, input);
  return [name, ...(told ?? [create("code", "input", plainText(inputText(input)))])];
}

/** What a tool is mostly about, a command or a path, is shown as it is, the rest as JSON. */
function inputText(input: unknown): string {
  if (input === undefined || input === null) return "";
  if (typeof input !== "object") return JSON.stringify(input);
  const main = Object.entries(input).find(
    ([name, value]) => ["command", "path", "text"].includes(name) && typeof value === "string",
  );
  const others = Object.entries(input).filter(([name]) => name !== main?.[0]);
  const rest = others.length === 0 ? "" : JSON.stringify(Object.fromEntries(others));
  return [main?.[1] as string | undefined, rest].filter(Boolean).join("  ");
}

function toolResult(entry: LogEntry): readonly HTMLElement[] {
  const output = plainText(typeof entry.output === "string" ? entry.output : "");
  const result = entry.isError === true ? "failed" : "done";
  const name = typeof entry.tool === "string" ? `${entry.tool} ` : "";
  const words = [`${name}${result}`, factsOf(entry)].filter(Boolean).join(" · ");
  // The space is for who selects and copies the line.
  const head = create("span", `result ${result}`, `${words} `);
  const text = output.trim();
  const told = typeof entry.tool === "string" ? answerLine(entry.tool, text) : null;
  if (told !== null) return [head, ...told];
  if (text === "") return [head];
  const isShort = text.length <= inlineChars && !text.includes("\n");
  return [head, isShort ? create("span", "output-inline", text) : outputBlock(output)];
}
