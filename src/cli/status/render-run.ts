import { denyProblems } from "../../contracts/deny-reasons.ts";
import { hostAndPort } from "../../contracts/host-and-port.ts";
import { bytesText, counted, durationText, outcomeText } from "../../contracts/format.ts";
import type { HistoryEntry } from "../../contracts/history.ts";
import { triggerNames } from "../../contracts/trigger-names.ts";
import type { RunHost } from "../../contracts/run-hosts.ts";
import type { RunView } from "../../contracts/run-view.ts";
import { localTime, plain, plainLine } from "../terminal/format.ts";
import { commitText } from "./render-difference.ts";
import type { StatusStyle } from "./render-status.ts";

/** One run for a person: a heading, then a line for each fact that there is. */
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

function factsOf(run: RunView, style: StatusStyle): readonly Fact[] {
  const { version, calls, startedAt, durationMs } = run;
  const moment = (at: string | null): string | null =>
    at === null ? null : localTime(Date.parse(at), style.now);
  return [
    ["Trigger", triggerText(run)],
    ["Receipt", run.receiptId],
    ["Prompt", run.prompt],
    ["Called with", calls.received?.context ?? null],
    ["Started", moment(startedAt)],
    ["Duration", durationMs === null ? null : durationText(durationMs)],
    ["Reason", run.reason],
    ["Model", run.model],
    ["Tokens", run.tokens === null ? null : run.tokens.toLocaleString("en")],
    ["Cost", costText(run)],
    ["Version", version?.hash.slice(0, 12) ?? null],
    ["Commit", version && commitText(version)],
    ["Calls", calls.made.length === 0 ? null : calls.made.map(callText).join("\n")],
    ["Denied", hostsText(run, ({ denied }) => denied !== null)],
    ["Reached", hostsText(run, ({ denied }) => denied === null)],
    ["Returned", valueText(run.value)],
    ["Last words", run.lastWords],
  ];
}

function triggerText({ id, kind, source, event, action, calls, replayOf }: RunView): string {
  const { received } = calls;
  const name = [event, action].filter((part) => part !== null).join(".");
  const from = received === null ? [source, name] : ["of", received.callerInstance];
  const replay = replayOf === null ? "" : "(replay)";
  return plainLine([triggerNames[kind], ...from, replay, `(${id})`].filter(Boolean).join(" "));
}

/** What the run itself reported, or while it runs what the scheduler counted. */
function costText({ costUsd, spend }: RunView): string | null {
  const usd = costUsd ?? (spend.calls === 0 ? null : spend.usd);
  if (usd === null) return null;
  const calls = spend.calls === 0 ? "" : ` in ${counted(spend.calls, "call")}`;
  return `$${usd < 0.01 ? usd.toFixed(6).replace(/\.?0+$/, "") : usd.toFixed(2)}${calls}`;
}

function callText({ agent, instanceId, outcome, startedAt }: HistoryEntry): string {
  const state = outcome ?? (startedAt === null ? "queued" : "running");
  return [agent, outcomeText(state), instanceId].filter((part) => part !== null).join(" ");
}

/** Of a kind; `--json` has the rest. */
const shownHosts = 20;

function hostsText({ hosts }: RunView, isShown: (host: RunHost) => boolean): string | null {
  const shown = hosts.filter(isShown);
  if (shown.length === 0) return null;
  const more = shown.length - shownHosts;
  const lines = shown.slice(0, shownHosts).map(hostText);
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function hostText({ denied, connections, bytesOut, bytesIn, ...host }: RunHost): string {
  const times = connections === 1 ? "" : `, ${connections} times`;
  const name = host.port === 0 ? JSON.stringify(host.host) : hostAndPort(host);
  if (denied !== null) return `${name} ${denyProblems[denied]}${times}`;
  return `${name} ${bytesText(bytesOut)} out, ${bytesText(bytesIn)} in${times}`;
}

function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
