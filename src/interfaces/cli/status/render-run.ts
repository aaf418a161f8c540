import { outcomeText } from "../../../../streams/outcomes.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";
import {
  runFacts,
  differenceLine,
  failingText,
  runHostText,
  commitText,
} from "../../views/run-facts.ts";
import type { RunHost } from "../../../foundation/contracts/run-hosts.ts";
import type { InboxView, RunView, RunDifference } from "../../../runtime/runs/run-view.ts";
import { localTime, plain, plainLine } from "../terminal/format.ts";
import type { StatusStyle } from "./render-status.ts";
import type { Colors } from "../terminal/output.ts";

/** One run for a person: a heading, then a line for each known fact. */
export function renderRun(run: RunView, style: StatusStyle): string {
  const { colors } = style;
  const state = run.outcome ?? (run.startedAt === null ? "queued" : "running");
  const facts = factsOf(run, style).filter((fact) => fact[1] !== null);
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, text]) => {
    const [first = "", ...more] = plain(text ?? "").split("\n");
    const below = more.map((line) => `${" ".repeat(width + 2)}${line}`);
    return [`${colors.dim(label.padEnd(width))}  ${first}`, ...below].join("\n");
  });
  return [`${colors.bold(run.instanceId)} ${outcomeText(state)}`, ...lines].join("\n");
}

type Fact = readonly [label: string, text: string | null];

/** Facts about the outcome come first. */
const firstFacts = ["Reason", "Cost", "Duration"];

function factsOf(run: RunView, { now }: StatusStyle): readonly Fact[] {
  const { calls, failing } = run;
  const timeOf = (at: string): string => localTime(at, now);
  const facts = runFacts(run, timeOf);
  return [
    ...firstFacts.flatMap((first) => facts.filter(([label]) => label === first)),
    ["Returned", valueText(run.value)],
    ["Last words", run.lastWords],
    ["Streak", failing && failingText(failing, timeOf)],
    ["Last success", lastSuccessText(run)],
    ["Trigger", triggerText(run)],
    ["Prompt", run.prompt],
    ["Called with", calls.received?.context ?? null],
    ["Payload", payloadText(run)],
    ...facts.filter(([label]) => !firstFacts.includes(label)),
    ["Calls", calls.made.length === 0 ? null : calls.made.map(callText).join("\n")],
    ["Denied", hostsText(run, ({ denied }) => denied !== null)],
    ["Reached", hostsText(run, ({ denied }) => denied === null)],
    ["Messages", run.messages.map((one) => messageText(one)).join("\n") || null],
    ["Warnings", run.warnings?.join("\n") || null],
  ];
}

/** How many lines of a payload are shown; `--payload` prints them all. */
const shownLines = 6;

function payloadText({ instanceId, payload }: RunView): string | null {
  const lines = payload?.split("\n") ?? [];
  const more = lines.length - shownLines;
  if (more <= 0) return payload;
  const note = `… ${counted(more, "more line")}: al show ${instanceId} --payload`;
  return [...lines.slice(0, shownLines), note].join("\n");
}

function triggerText({ kind, source, event, action, calls, replayOf }: RunView): string {
  const { received } = calls;
  const name = [event, action].filter((part) => part !== null).join(".");
  const from = received === null ? [source, name] : ["from", received.callerInstance];
  const replay = replayOf === null ? "" : "(replay)";
  return plainLine([triggerNames[kind], ...from, replay].filter(Boolean).join(" "));
}

function lastSuccessText({ instanceId, lastSuccess }: RunView): string | null {
  if (lastSuccess === null) return null;
  const { instanceId: earlier, changed } = lastSuccess;
  if (changed === null) return earlier;
  return changed
    ? `${earlier}; changed since then: al show ${instanceId} --diff`
    : `${earlier}; same configuration`;
}

function callText({ agent, instanceId, outcome, startedAt }: HistoryEntry): string {
  const state = outcome ?? (startedAt === null ? "queued" : "running");
  return [agent, outcomeText(state), instanceId].filter((part) => part !== null).join(" ");
}

function messageText({ kind, text, by, receivedAt }: InboxView): string {
  const state = receivedAt === null && kind !== "continue" ? ", not received" : "";
  const said = kind === "stop" ? "stop after this turn" : text;
  return `${said} (by ${by.name === "" ? by.via : by.name}${state})`;
}

/** How many hosts of a kind are shown; `--json` has the rest. */
const shownHosts = 20;

function hostsText({ hosts }: RunView, isShown: (host: RunHost) => boolean): string | null {
  const shown = hosts.filter(isShown);
  if (shown.length === 0) return null;
  const more = shown.length - shownHosts;
  const lines = shown.slice(0, shownHosts).map(runHostText);
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The compared runs and their commits, in one line. */
export function differenceNote({ from, to, changed }: RunDifference): string {
  const side = ({ instanceId, version }: RunDifference["from"]): string => {
    const commit = commitText(version);
    return commit === null ? instanceId : `${instanceId} (commit ${commit})`;
  };
  const words = changed ? "what changed from" : "nothing changed from";
  return `${words} ${side(from)} to ${side(to)}`;
}

/** A unified difference as git colours it. */
export function renderDifference(text: string, colors: Colors): string {
  return plain(text.replace(/\n$/, ""))
    .split("\n")
    .map((line) => colored(line, colors))
    .join("\n");
}

const lineColors = { file: "bold", place: "cyan", added: "green", removed: "red" } as const;

function colored(line: string, colors: Colors): string {
  const kind = differenceLine(line);
  return kind === "same" ? line : colors[lineColors[kind]](line);
}
