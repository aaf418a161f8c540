import type { Outcome, TriggerKind } from "../../../streams/vocabulary.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** ISO 8601 UTC of epoch ms. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** The distance of a moment from `now`: `12 s ago`, `in 3 min`, `now`. Times are epoch ms. */
export function relativeTime(time: number, now: number): string {
  const distance = Math.abs(time - now);
  if (distance < second) return "now";
  const text = distanceText(distance);
  return time < now ? `${text} ago` : `in ${text}`;
}

function distanceText(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} days`;
}

/** A length of time with about two digits that matter: `400 ms`, `1.2 s`, `3 min 05 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${padded(seconds % 60)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} min`;
}

function padded(value: number): string {
  return String(value).padStart(2, "0");
}

/** A count with its noun: `1 agent`, `1,200 agents`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** An amount of data: `12 bytes`, `1.5 KiB`, `3.2 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return counted(bytes, "byte");
  return bytes < 1024 ** 2
    ? `${(bytes / 1024).toFixed(1)} KiB`
    : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** An outcome in words: `timed out`. */
export function outcomeText(outcome: string): string {
  return outcome.replaceAll("_", " ");
}

/** Ends of work that no run was started for. */
export const refusedOutcomes = [
  "skipped",
  "missed",
  "dropped",
  "rejected",
] as const satisfies readonly Outcome[];

/** Ends of runs that failed. */
export const failedOutcomes = [
  "failed",
  "timed_out",
  "out_of_memory",
  "over_budget",
  "lost",
] as const satisfies readonly Outcome[];

interface Ended {
  readonly kind: TriggerKind;
  readonly agent: string | null;
  readonly outcome: Outcome | null;
  readonly startedAt: string | null;
}

/** How an entry of the history stands or ended, in one word: `queued`, `running`, its outcome, `unmatched`. */
export function stateWord({ kind, agent, outcome, startedAt }: Ended): string {
  if (outcome === null) return startedAt === null ? "queued" : "running";
  // No agent refused it: it was for none.
  return outcome === "rejected" && kind === "webhook" && agent === null ? "unmatched" : outcome;
}
