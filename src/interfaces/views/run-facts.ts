import { changesText } from "../../features/memory/changes-text.ts";
import { dollars } from "../../features/spend/spend-text.ts";
import { denyProblems, hostAndPort } from "../../foundation/contracts/deny-reasons.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { bytesText, counted, inARow } from "../../foundation/contracts/format.ts";
import type { Failing } from "../../foundation/contracts/history.ts";
import type { RunHost } from "../../foundation/contracts/run-hosts.ts";
import type { RunVersionView, RunView } from "../../runtime/runs/run-view.ts";

/** A fact of a run, in words for a person. */
type RunFact = readonly [label: string, text: string];

/** The facts of a run, one line each. `moment` formats an ISO time for its reader. */
export function runFacts(run: RunView, moment: (at: string) => string): readonly RunFact[] {
  const { version } = run;
  const at = (time: string | null): string | null => (time === null ? null : moment(time));
  const facts: readonly (readonly [string, string | null])[] = [
    ["Due", at(run.scheduledFor)],
    ["Started", at(run.startedAt)],
    ["Delay", run.late],
    ["Ended", at(run.endedAt)],
    ["Duration", run.durationMs === null ? null : durationText(run.durationMs)],
    ["Attempt", run.attempt > 1 ? String(run.attempt) : null],
    ["Exit code", run.exitCode === null ? null : String(run.exitCode)],
    ["Reason", run.reason],
    ["Model", run.model],
    ["Tokens", tokensText(run)],
    ["Cost", runCostText(run)],
    ["Version", version?.hash.slice(0, shownDigits) ?? null],
    ["Commit", version && commitText(version)],
    ["Replay of", run.replayOf],
    ["Continues", run.continues],
    ["Continued by", run.continuedBy.join(", ") || null],
    ["Gathered", run.gathered === undefined ? null : `${run.gathered.length} deliveries`],
    ["Receipt", run.receiptId],
    ["Memory", memoryText(run.memory) || null],
    ["Entry", run.id],
  ];
  return facts.flatMap(([label, text]) => (text === null ? [] : [[label, text] as const]));
}

/** The changes of a run in memories, a line each. */
function memoryText({ versions, proposals, notKept }: RunView["memory"]): string {
  return [
    ...versions.map(({ name, n, changes }) => `${name} version ${n}: ${changesText(changes)}`),
    ...proposals.map(({ name, state }) => `${name}: proposed, ${state}`),
    ...notKept.map(({ name, reason }) => `${name} not kept: ${reason}`),
  ].join("\n");
}

const shownDigits = 12;

/** The short commit of a run; null for none. */
export function commitText({ commit, dirty }: RunVersionView): string | null {
  if (commit === null) return null;
  const short = commit.slice(0, shownDigits);
  return dirty === true ? `${short} with changes` : short;
}

/**
 * `failing since 06:33, 78 in a row; last success 06:26; config changed in between`. `moment` formats an ISO time for its
 * reader.
 */
export function failingText(
  { since, count, newest, lastSuccess, changed }: Failing,
  moment: (at: string) => string,
): string {
  const parts = [
    `${newest ? "" : "had been "}failing since ${moment(since)}${inARow(count)}`,
    lastSuccess === null ? "no success is known" : `last success ${moment(lastSuccess.at)}`,
    ...(changed === null ? [] : [`${changed.join(" and ") || "nothing"} changed in between`]),
  ];
  return parts.join("; ");
}

/** The tokens reported by the run, or while it runs, those counted by the scheduler. */
export function tokensText({ tokens, spend }: RunView): string | null {
  const count = tokens ?? (spend.calls === 0 ? null : spend.tokens);
  return count === null ? null : count.toLocaleString("en");
}

/** `$0.18 in 3 calls`, or while it runs, what the scheduler counted; null without a call. */
export function runCostText({ costUsd, spend }: RunView): string | null {
  const usd = costUsd ?? (spend.calls === 0 ? null : spend.usd);
  if (usd === null) return null;
  const calls = spend.calls === 0 ? "" : ` in ${counted(spend.calls, "call")}`;
  if (usd === 0 && spend.unpriced > 0) return `unpriced${calls}`;
  return `${dollars(usd)}${calls}`;
}

/** A host that a run requested, and why it was denied or how many bytes it transferred. */
export function runHostText(asked: RunHost): string {
  const { denied, connections, bytesOut, bytesIn, host, port } = asked;
  const times = connections === 1 ? "" : `, ${connections} times`;
  const name = port === 0 ? JSON.stringify(host) : hostAndPort(asked);
  if (denied !== null) return `${name} ${denyProblems[denied]}${times}`;
  return `${name} ${bytesText(bytesOut)} out, ${bytesText(bytesIn)} in${times}`;
}

/** The kind of a line of a unified diff. */
export function differenceLine(line: string): "file" | "place" | "added" | "removed" | "same" {
  if (/^(---|\+\+\+) /.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
