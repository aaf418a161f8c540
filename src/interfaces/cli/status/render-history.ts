import { outcomeRows, isError, toneOf } from "../../../../streams/outcomes.ts";
import { cut, widthOf } from "../terminal/fit.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import type { StatusStyle } from "./render-status.ts";
import { leastWidth, renderTable, type TableColumn } from "../terminal/table.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { counted, lateDue, stateWord } from "../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { refusalWord, turnedAwayText } from "../../views/delivery-words.ts";
import type {
  MissedSpan,
  RefusedDeliveries,
  TurnedAway,
} from "../../../features/webhooks/delivery-report.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";

interface HistoryColumn extends TableColumn {
  readonly text: (row: HistoryRow, style: StatusStyle) => string;
}

const when: HistoryColumn = { title: "When", text: ({ at }, { now }) => localTime(at, now) };
const agent: HistoryColumn = { title: "Agent", text: (row) => row.agent };
const trigger: HistoryColumn = { title: "Trigger", shrinks: true, text: (row) => row.trigger };
const outcome: HistoryColumn = { title: "Outcome", text: (row) => row.outcome };
const duration: HistoryColumn = { title: "Duration", text: (row) => row.duration ?? "" };
const instance: HistoryColumn = { title: "Instance", text: (row) => row.instance ?? "" };
const replay: HistoryColumn = { title: "Replay", text: (row) => row.replay?.id ?? "" };
const reason: HistoryColumn = { title: "Reason", shrinks: true, text: (row) => row.reason };

const piped = [when, agent, trigger, outcome, duration, instance, replay, reason];
const wide = [when, agent, trigger, outcome, duration, instance, reason];
const narrow = [when, agent, trigger, outcome];

/** A reason cut to fewer characters explains nothing. */
const narrowestReason = 28;

/**
 * The trigger history as a table, in the given order. Off a terminal an entry is one line. On one no id is cut: an id
 * for `al replay` has its own line, and so has an instance that does not fit beside the rest.
 */
export function renderHistory(rows: readonly HistoryRow[], style: StatusStyle): string {
  const partsOf = (columns: readonly HistoryColumn[]) =>
    [columns, rows.map((row) => columns.map(({ text }) => text(row, style)))] as const;
  if (style.columns === null) return renderTable(...partsOf(piped), style);
  const isWide = leastWidth(...partsOf(wide), { Reason: narrowestReason }) <= style.columns;
  const below = rows.map((row) => [
    ...(isWide ? [] : runLines(row, style)),
    ...replayLines(row, style),
  ]);
  return renderTable(...partsOf(isWide ? wide : narrow), style, below);
}

const gap = 2;

/** The parts that the narrow table omits: only the reason is cut. */
function runLines(row: HistoryRow, { colors, columns }: StatusStyle): string[] {
  const whole = [row.instance ?? "", row.duration ?? ""].filter((part) => part !== "");
  const room = (columns ?? 0) - whole.reduce((sum, part) => sum + widthOf(part) + gap, gap);
  const parts = [...whole, cut(row.reason, room)].filter((part) => part !== "");
  return parts.length === 0 ? [] : [colors.dim(`  ${parts.join("  ")}`)];
}

/** On its own line: an id is half as wide as a terminal. */
function replayLines({ replay: replayed }: HistoryRow, { colors }: StatusStyle): string[] {
  return replayed === undefined ? [] : [colors.dim(`  ${replayed.kind} ${replayed.id}`)];
}

/** One row of the history, each part as printed. */
interface HistoryRow extends Record<"agent" | "trigger" | "outcome" | "reason", string> {
  /** Epoch ms. */
  readonly at: number;
  readonly duration?: string;
  readonly instance?: string;
  /** The id for `al replay`; absent if a replay is unusual. */
  readonly replay?: { readonly kind: "receipt" | "trigger"; readonly id: string };
}

/** The row of an entry. */
export function entryRow(entry: HistoryEntry, style: StatusStyle): HistoryRow {
  return {
    at: Date.parse(entry.at),
    agent: entry.agent ?? "",
    trigger: triggerOf(entry, style),
    outcome: outcomeOf(entry, style),
    duration: entry.durationMs === null ? "" : durationText(entry.durationMs),
    instance: entry.instanceId ?? "",
    reason: plainLine(entry.reason ?? ""),
    ...replayOf(entry),
  };
}

/** The row of refused deliveries, which can't be replayed. */
export function refusedRow(refused: RefusedDeliveries, { colors, now }: StatusStyle): HistoryRow {
  const { type, source, result, count, firstAt, lastAt, reason } = refused;
  const since = localTime(firstAt, now);
  const times = count === 1 ? "" : `${count.toLocaleString("en")} times since ${since}, the last: `;
  return {
    at: Date.parse(lastAt),
    agent: "",
    trigger: ["webhook", source ?? type].join(" "),
    outcome: colors.yellow(refusalWord(result)),
    reason: plainLine(`${times}${reason}`),
  };
}

/** The row of the runs that were due while schedules were off. */
export function spanRow(span: MissedSpan, agent: string, { colors, now }: StatusStyle): HistoryRow {
  const { schedule, since, until, count, reason } = span;
  const end = until === null ? "now" : localTime(until, now);
  return {
    at: Date.parse(until ?? since),
    agent,
    trigger: plainLine([triggerNames.cron, schedule].filter(Boolean).join(" ")),
    outcome: colors.yellow("skipped"),
    reason: `${counted(count, "run")} from ${localTime(since, now)} to ${end}: ${reason}`,
  };
}

/** The row of a delivery that the agent's own filters rejected. */
export function turnedAwayRow(delivery: TurnedAway, agent: string, style: StatusStyle): HistoryRow {
  const { receiptId, at, source, event, action } = delivery;
  const name = [event, action].filter((part) => part !== null).join(".");
  return {
    at: Date.parse(at),
    agent,
    trigger: plainLine(["webhook", source, name].join(" ")),
    outcome: style.colors.yellow("turned away"),
    reason: plainLine(turnedAwayText(delivery)),
    replay: { kind: "receipt", id: receiptId },
  };
}

/** After a success a replay is unusual, and after a tick that did not run the next one comes anyway. */
function replayOf({ id, receiptId, outcome }: HistoryEntry): Pick<HistoryRow, "replay"> {
  if (outcome === null || outcome === "succeeded") return {};
  if (outcomeRows[outcome].kind === "refused" && !isError(outcome)) return {};
  return {
    replay: receiptId === null ? { kind: "trigger", id } : { kind: "receipt", id: receiptId },
  };
}

function triggerOf(entry: HistoryEntry, { now }: StatusStyle): string {
  const { kind, source, event, action } = entry;
  const name = [event, action].filter((part) => part !== null).join(".");
  const replay = entry.replayOf === null ? "" : "(replay)";
  const due = lateDue(entry);
  const time = due === null ? "" : `for ${localTime(due, now)}`;
  return plainLine([triggerNames[kind], source, name, replay, time].filter(Boolean).join(" "));
}

function outcomeOf(entry: HistoryEntry, { colors }: StatusStyle): string {
  const word = stateWord(entry);
  if (entry.outcome === null) return colors[word === "queued" ? "dim" : "green"](word);
  const tone = toneOf(entry.outcome);
  return tone === "good" ? word : colors[toneColors[tone]](word);
}

const toneColors = { error: "red", held: "yellow", off: "dim" } as const;
