import { outcomeText } from "../../../../streams/outcomes.ts";
import { createContext, type FunctionComponent } from "preact";
import { useContext } from "preact/hooks";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import type { LogKind } from "../../../foundation/contracts/log-kinds.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { parsed, prettyText } from "../runs/call-tree.ts";
import { factList, factsOf, usageText } from "./log-rows.ts";
import { joined } from "../text/format.ts";
import { Linked, WebLink } from "../kit/linked.tsx";
import { Markdown } from "../kit/markdown.tsx";
import { RunLink } from "../runs/run-parts.tsx";

interface EntryProps {
  readonly entry: LogEntry;
}

function Facts({ text }: { readonly text: string }) {
  return text === "" ? null : <span class="facts">{text}</span>;
}

/** A line's text, with the numbers that it carries. */
export function PlainLine({ entry }: EntryProps) {
  const facts = factsOf(entry);
  return (
    <>
      <span class="text">
        <Linked text={plainText(entry.msg)} />
      </span>
      <Facts text={facts} />
    </>
  );
}

function ToolCall({ entry }: EntryProps) {
  const { tool, input, msg } = entry;
  if (typeof tool !== "string") return <span class="text">{plainText(msg)}</span>;
  return (
    <>
      {/* The space is for a copy of the line. */}
      <span class="tool">{tool} </span>
      <code class="input">{plainText(inputText(input))}</code>
    </>
  );
}

const mainInputs = ["command", "path", "text", "resource", "agent"];

/** The main input of a tool, a command or a path, is shown unchanged, the rest as JSON. */
function inputText(input: unknown): string {
  if (input === undefined || input === null) return "";
  if (typeof input !== "object") return JSON.stringify(input);
  const main = Object.entries(input).find(
    ([name, value]) => mainInputs.includes(name) && typeof value === "string",
  );
  const others = Object.entries(input).filter(([name]) => name !== main?.[0]);
  const rest = others.length === 0 ? "" : JSON.stringify(Object.fromEntries(others));
  return joined([main?.[1] as string | undefined, rest], "  ");
}

/** Output of one line up to this length is shown beside its result. */
const inlineChars = 100;

function ToolResult({ entry }: EntryProps) {
  const tool = textOf(entry.tool);
  const result = entry.isError === true ? "failed" : "done";
  const words = joined([`${tool} ${result}`.trim(), factsOf(entry)]);
  const output = plainText(answerText(tool, textOf(entry.output)));
  const text = output.trim();
  const isShort = text.length <= inlineChars && !text.includes("\n");
  const shown = isShort ? <span class="output-inline">{text}</span> : <Output text={output} />;
  return (
    <>
      <span class={`result ${result}`}>{words} </span>
      {text !== "" && shown}
    </>
  );
}

/** The log of one run, whose reader wants to see what its model got: a prompt up to this length is unfolded there. */
export const PromptChars = createContext(0);

/** Folded, unless it contains the searched text. */
function Prompt({ entry }: EntryProps) {
  const sought = useContext(Sought);
  const text = plainText(textOf(entry.output));
  const isShort = text.length <= useContext(PromptChars);
  return (
    <details class="live" open={isShort || (sought !== "" && text.toLowerCase().includes(sought))}>
      <summary>{plainText(entry.msg)}</summary>
      <pre class="output">{text}</pre>
    </details>
  );
}

/** The fields of a response of the scheduler, or why it refused; the output of any other tool unchanged. */
function answerText(tool: string, output: string): string {
  const answer = /^(al_|wait_for_)/.test(tool) ? parsed(output) : null;
  if (typeof answer !== "object" || answer === null || !("ok" in answer)) return output;
  if (answer.ok !== true && "detail" in answer) return String(answer.detail);
  return Object.entries(answer)
    .filter(([name]) => name !== "ok")
    .map(([name, value]) => `${name}: ${prettyText(value)}`)
    .join("\n");
}

function RunLine({ entry }: EntryProps) {
  if (typeof entry.outcome === "string") return <RunEnd entry={entry} outcome={entry.outcome} />;
  const { trigger } = entry;
  if (typeof trigger !== "object" || trigger === null) return <PlainLine entry={entry} />;
  return <RunStart entry={entry} trigger={trigger as Readonly<Record<string, unknown>>} />;
}

interface RunStartProps extends EntryProps {
  readonly trigger: Readonly<Record<string, unknown>>;
}

/** The trigger of a run and its subject: the webhook's issue, the person's prompt. */
function RunStart({ entry, trigger }: RunStartProps) {
  const caller = textOf(trigger.callerInstance);
  const number = typeof trigger.number === "number" ? `#${trigger.number}` : "";
  const about = [textOf(trigger.action), textOf(trigger.repo), number, textOf(trigger.title)];
  const subject = plainText(joined(about, " "));
  const url = textOf(trigger.url);
  const prompt = textOf(trigger.prompt);
  return (
    <>
      <span class="text">
        {plainText(entry.msg)}
        {caller === "" ? "" : " "}
      </span>
      {/* An instance has the name of its agent, and a short suffix. */}
      {caller !== "" && <RunLink agent={caller.replace(/-[^-]*$/, "")} instanceId={caller} />}
      {/* An address of the payload's sender is followed only to the web. */}
      {/^https?:\/\//.test(url) && subject !== "" ? (
        <WebLink href={url} class="facts">
          {subject}
        </WebLink>
      ) : (
        <Facts text={subject} />
      )}
      {prompt !== "" && <blockquote class="prompt">{plainText(prompt)}</blockquote>}
    </>
  );
}

/** A message of a person, and who sent it. */
function Steer({ entry }: EntryProps) {
  return (
    <>
      <span class="facts">{textOf(entry.by)}:</span>{" "}
      <span class="text">{plainText(entry.msg)}</span>
    </>
  );
}

/** How a run ended, its duration and its usage. */
function RunEnd({ entry, outcome }: EntryProps & { readonly outcome: string }) {
  const isGood = outcome === "succeeded";
  const facts = joined(factList(entry));
  const reason = /: ([\s\S]+)$/.exec(entry.msg)?.[1];
  return (
    <>
      <span class={isGood ? "end-mark good" : "end-mark failed"} aria-hidden="true">
        {isGood ? "✓ " : "✕ "}
      </span>
      <span class="text">run {outcomeText(outcome)}</span>
      <Facts text={facts} />
      {!isGood && reason !== undefined && <div class="reason">{plainText(reason)}</div>}
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The content of a line by its kind. */
export const contents: Readonly<
  Record<Exclude<LogKind, "tool-output">, FunctionComponent<EntryProps>>
> = {
  // The headings of a line are not part of the page's outline.
  said: ({ entry }) => <Markdown text={entry.msg} class="text" />,
  prompt: Prompt,
  steer: Steer,
  tool: ToolCall,
  "tool-result": ToolResult,
  usage: ({ entry }) => <span class="facts">{usageText(entry)}</span>,
  fallback: PlainLine,
  hook: PlainLine,
  network: PlainLine,
  mcp: PlainLine,
  process: PlainLine,
  run: RunLine,
};

/** Shown characters of a running call's output: the newest. */
const maxCharacters = 64 * 1024;

interface LiveOutputProps {
  readonly entries: readonly LogEntry[];
  readonly isOpen: boolean;
}

/** The output that a call printed while it ran, all in one line of the log. */
export function LiveOutput({ entries, isOpen }: LiveOutputProps) {
  const text = entries.map(pieceOf).join("").slice(-maxCharacters);
  const lines = entries.reduce((count, { output }) => count + lineEnds(textOf(output)), 0);
  const durations = entries.map(({ durationMs }) => durationMs);
  const durationMs = durations.findLast((ms) => typeof ms === "number") ?? 0;
  const count = lines === 0 ? "no output" : counted(lines, "line");
  return (
    <details class="live" open={isOpen}>
      <summary>
        {count} {isOpen ? "so far" : "while it ran"} · {durationText(durationMs)}
      </summary>
      <pre class="output" hidden={text === ""}>
        {text}
      </pre>
    </details>
  );
}

function pieceOf({ output, leftOut }: LogEntry): string {
  const isCut = typeof leftOut === "number" && leftOut > 0;
  const gap = isCut ? `… ${counted(leftOut, "character")} left out\n` : "";
  return gap + plainText(textOf(output));
}

function lineEnds(text: string): number {
  return plainText(text).split("\n").length - 1;
}

/** The log's text filter, lower case: output that contains it is unfolded. */
export const Sought = createContext("");

/** Output longer than this is folded: lines and characters. */
const foldLines = 8;
const foldChars = 700;

/** Output unchanged; a long one is folded under its number of lines. */
function Output({ text }: { readonly text: string }) {
  const sought = useContext(Sought);
  const block = (
    <pre class="output">
      <Linked text={text} />
    </pre>
  );
  const lines = text.trimEnd().split("\n").length;
  if (lines <= foldLines && text.length <= foldChars) return block;
  return (
    <details open={sought !== "" && text.toLowerCase().includes(sought)}>
      <summary>output, {lines.toLocaleString("en")} lines</summary>
      {block}
    </details>
  );
}
