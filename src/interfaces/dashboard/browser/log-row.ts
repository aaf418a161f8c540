import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import type { LogKind } from "../../../foundation/contracts/log-kinds.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { create, createLink, setAttribute, setAttributes } from "./dom.ts";
import { clockTime, exactTime, levelName } from "./format.ts";
import { requestLine, answerLine } from "./log-request-lines.ts";
import { factsOf, usageText } from "./log-facts.ts";
import { createLiveBlock } from "./log-live.ts";
import { outputBlock } from "./log-output.ts";
import { transcriptView } from "./markdown-view.ts";
import { runEnd, runStart } from "./log-run-lines.ts";

/** One line of the log. */
export interface LogRow {
  readonly element: HTMLElement;
  /** Unfolds output with this text, lower case, and folds again what it unfolded when there is none. */
  reveal(text: string): void;
  /** Shows the entry as it was written, below its text. */
  setRaw(isRaw: boolean): void;
  /** Shows a further line of the same running call in this one. */
  join(entry: LogEntry): void;
  /** The call whose output this is has ended. */
  fold(): void;
}

/** One line of output up to this long stands beside its result. */
const inlineChars = 100;

/** Makes a line, as text of its kind. A press on its time shows it raw. `address` is the line's own. */
export function createLogRow(entry: LogEntry, address: string): LogRow {
  const level = levelName(entry.level);
  const kind = kindOf(entry);
  const at = create("button", "at", clockTime(entry.time));
  // Thousands of stops would make the page unusable by keyboard; there the button for all lines does it.
  setAttributes(at, { type: "button", tabindex: -1, "aria-expanded": "false" });
  at.title = `${exactTime(entry.time)}: show the entry as it was written`;
  const live = kind === "tool-output" ? createLiveBlock(entry) : null;
  const parts =
    live === null ? (kind === null ? plainLine : contents[kind])(entry) : [live.element];
  const content = create("div", "content", ...parts);
  const name = create("span", "level", level.toUpperCase());
  const link = createLink(address, "line-link", "#");
  setAttributes(link, { tabindex: -1, "aria-label": "This line", title: "Link to this line" });
  const row = create("div", `line ${level} kind-${kind ?? "plain"}`, at, name, content, link);

  const entries = [entry];
  const rawText = (): string => entries.map((one) => JSON.stringify(one, null, 2)).join("\n");
  let raw: HTMLElement | null = null;
  const setRaw = (isRaw: boolean): void => {
    if (isRaw === (raw !== null)) return;
    raw?.remove();
    raw = isRaw ? create("pre", "raw-entry", rawText()) : null;
    if (raw !== null) content.append(raw);
    setAttribute(at, "aria-expanded", String(isRaw));
  };
  at.addEventListener("click", () => setRaw(raw === null));
  return {
    element: row,
    setRaw,
    reveal: revealing(content.querySelector("details")),
    join: (next) => {
      entries.push(next);
      live?.add(next);
      if (raw !== null) raw.textContent = rawText();
    },
    fold: () => live?.fold(),
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

const contents: Readonly<Record<LogKind, (entry: LogEntry) => readonly HTMLElement[]>> = {
  said: assistantText,
  tool: toolCall,
  "tool-output": plainLine,
  "tool-result": toolResult,
  usage: (entry) => [create("span", "facts", usageText(entry))],
  fallback: plainLine,
  hook: plainLine,
  network: plainLine,
  process: plainLine,
  run: (entry) => runEnd(entry) ?? runStart(entry) ?? plainLine(entry),
};

/** The model's text, which is markdown. */
function assistantText({ msg }: LogEntry): readonly HTMLElement[] {
  return [create("div", "text markdown", ...transcriptView(plainText(msg)))];
}

function plainLine(entry: LogEntry): readonly HTMLElement[] {
  const facts = factsOf(entry);
  const text = create("span", "text", plainText(entry.msg));
  return facts === "" ? [text] : [text, create("span", "facts", facts)];
}

function toolCall(entry: LogEntry): readonly HTMLElement[] {
  const { tool, input } = entry;
  if (typeof tool !== "string") return [create("span", "text", plainText(entry.msg))];
  // The space is for a copy of the line.
  const name = create("span", "tool", `${tool} `);
  const words = requestLine(tool, input);
  return [name, ...(words ?? [create("code", "input", plainText(inputText(input)))])];
}

/** The main input of a tool, a command or a path, is shown as it is, the rest as JSON. */
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
  // The space is for a copy of the line.
  const head = create("span", `result ${result}`, `${words} `);
  const text = output.trim();
  const answer = typeof entry.tool === "string" ? answerLine(entry.tool, text) : null;
  if (answer !== null) return [head, ...answer];
  if (text === "") return [head];
  const isShort = text.length <= inlineChars && !text.includes("\n");
  return [head, isShort ? create("span", "output-inline", text) : outputBlock(output)];
}
