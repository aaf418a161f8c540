import { outcomeRows, toneOf } from "../../../../streams/outcomes.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { triggerNames } from "../../../../streams/vocabulary.ts";

const plainReasons: Readonly<Partial<Record<string, string>>> = {
  queue_full: "the agent's queue was full, and newer work took its place",
};

/** State and outcome of an entry. */
export type Standing = Pick<HistoryEntry, "outcome" | "startedAt">;

/** State or outcome of an entry in the words of the API: `queued`, `running`, or its outcome. */
export function stateOf({ outcome, startedAt }: Standing): string {
  return outcome ?? (startedAt === null ? "queued" : "running");
}

/** The class of an entry's colour. */
export function lookOf({ outcome, startedAt }: Standing): string {
  if (outcome !== null) return toneOf(outcome);
  return startedAt === null ? "queued" : "running";
}

/** Start of a running run; null for any other entry. */
export function runningSince(entry: Standing): string | null {
  return entry.outcome === null ? entry.startedAt : null;
}

/** Why an entry ended as it did, in a sentence; empty for a success or while it runs. */
export function whyText({
  outcome,
  reason,
  kind,
  startedAt,
}: Standing & Pick<HistoryEntry, "reason" | "kind">): string {
  if (outcome === null) return "";
  // No run of its own, as a waiting run took it.
  if (outcome === "succeeded") return startedAt === null ? (reason ?? "") : "";
  const meaning =
    outcome === "rejected" && kind === "webhook" ? "No agent ran" : outcomeRows[outcome].meaning;
  const why = reason === null ? undefined : (plainReasons[reason] ?? reason);
  return plainText([meaning, why].filter((part) => part !== undefined).join(": "));
}

/** The trigger of a run in few words: `webhook issues opened`. */
export function triggerWords({
  kind,
  source,
  event,
  action,
  replayOf,
}: Pick<HistoryEntry, "kind" | "source" | "event" | "action" | "replayOf">): string {
  const details =
    kind === "webhook"
      ? [event, action]
      : kind === "agent-call" && source !== null
        ? [`from ${source}`]
        : [source];
  const words = [triggerNames[kind], ...details, replayOf === null ? null : "(replay)"];
  return words.filter((word) => word !== null).join(" ");
}
