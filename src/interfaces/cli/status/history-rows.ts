import { durationText } from "../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { refusalWord, turnedAwayText } from "../../../foundation/contracts/delivery-words.ts";
import type { RefusedDeliveries } from "../../../foundation/contracts/refused-deliveries.ts";
import { stateWord } from "../../../foundation/contracts/state-word.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";
import type { TurnedAway } from "../../../foundation/contracts/why-not.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import type { StatusStyle } from "./render-status.ts";

/** One row of the history, each part as it is printed; empty for what there is not. */
export interface HistoryRow {
  /** Epoch ms. */
  readonly at: number;
  readonly agent: string;
  readonly trigger: string;
  readonly outcome: string;
  readonly duration: string;
  readonly instance: string;
  readonly reason: string;
  /** What `al replay` takes; null where a replay is unusual. */
  readonly replay: { readonly kind: "receipt" | "trigger"; readonly id: string } | null;
}

/** The row of an entry. */
export function entryRow(entry: HistoryEntry, style: StatusStyle): HistoryRow {
  return {
    at: Date.parse(entry.at),
    agent: entry.agent ?? "",
    trigger: triggerOf(entry),
    outcome: outcomeOf(entry, style),
    duration: entry.durationMs === null ? "" : durationText(entry.durationMs),
    instance: entry.instanceId ?? "",
    reason: plainLine(entry.reason ?? ""),
    replay: replayOf(entry),
  };
}

/** The row of deliveries that were refused, of which there is nothing to replay. */
export function refusedRow(refused: RefusedDeliveries, { colors, now }: StatusStyle): HistoryRow {
  const { type, source, result, count, firstAt, lastAt, reason } = refused;
  const since = localTime(Date.parse(firstAt), now);
  const times = count === 1 ? "" : `${count.toLocaleString("en")} times since ${since}, the last: `;
  return {
    at: Date.parse(lastAt),
    agent: "",
    trigger: ["webhook", source ?? type].join(" "),
    outcome: colors.yellow(refusalWord(result)),
    duration: "",
    instance: "",
    reason: plainLine(`${times}${reason}`),
    replay: null,
  };
}

/** The row of a delivery that the agent's own filters turned away. */
export function turnedAwayRow(delivery: TurnedAway, agent: string, style: StatusStyle): HistoryRow {
  const { receiptId, at, source, event, action } = delivery;
  const name = [event, action].filter((part) => part !== null).join(".");
  return {
    at: Date.parse(at),
    agent,
    trigger: plainLine(["webhook", source, name].join(" ")),
    outcome: style.colors.yellow("turned away"),
    duration: "",
    instance: "",
    reason: plainLine(turnedAwayText(delivery)),
    replay: { kind: "receipt", id: receiptId },
  };
}

/** Outcomes after which a replay is unusual: of a schedule, the next tick follows anyway. */
const notReplayed: readonly HistoryEntry["outcome"][] = [null, "succeeded", "skipped", "missed"];

function replayOf({ id, receiptId, outcome }: HistoryEntry): HistoryRow["replay"] {
  if (notReplayed.includes(outcome)) return null;
  return receiptId === null ? { kind: "trigger", id } : { kind: "receipt", id: receiptId };
}

function triggerOf({ kind, source, event, action, ...entry }: HistoryEntry): string {
  const name = [event, action].filter((part) => part !== null).join(".");
  const replay = entry.replayOf === null ? "" : "(replay)";
  return plainLine([triggerNames[kind], source, name, replay].filter(Boolean).join(" "));
}

const outcomeColors: Readonly<Partial<Record<string, "dim" | "green" | "yellow">>> = {
  queued: "dim",
  running: "green",
  interrupted: "yellow",
  skipped: "yellow",
  missed: "yellow",
  unmatched: "yellow",
};

function outcomeOf(entry: HistoryEntry, { colors }: StatusStyle): string {
  const word = stateWord(entry);
  return word === "succeeded" ? word : colors[outcomeColors[word] ?? "red"](word);
}
