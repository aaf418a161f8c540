import type { Outcome } from "../../../streams/outcomes.ts";
import type { TriggerKind } from "../../../streams/vocabulary.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const date = { month: "short", day: "numeric", timeZoneName: "short" } as const;

/** A moment in this machine's time zone: `Nov 24, 00:00 UTC`; with its year if it is not this one. */
export function momentText(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear();
  const year = isThisYear ? undefined : "numeric";
  return new Intl.DateTimeFormat("en", { year, ...date, ...clock }).format(at);
}

/** A text as a sentence: `It failed.` */
export function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
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

/** How many failures in a row are counted: an unlimited count takes longer the longer an agent fails. */
export const mostFailures = 10_000;

/** `, 1,078 in a row`; empty for one failure. */
export function inARow(count: number): string {
  if (count === 1) return "";
  return `, ${count.toLocaleString("en")}${count < mostFailures ? "" : "+"} in a row`;
}

/** How many of an agent's latest runs are shown side by side. */
export const shownRuns = 20;

/** How many agents one request may name: an address has no room for more. */
export const mostNames = 100;

interface Ended {
  readonly kind: TriggerKind;
  readonly agent: string | null;
  readonly outcome: Outcome | null;
  readonly startedAt: string | null;
}

/** State or end of a history entry in one word: `queued`, `running`, its outcome, `unmatched`. */
export function stateWord({ kind, agent, outcome, startedAt }: Ended): string {
  if (outcome === null) return startedAt === null ? "queued" : "running";
  // No agent rejected the delivery: none matched.
  return outcome === "rejected" && kind === "webhook" && agent === null ? "unmatched" : outcome;
}

const onTimeMs = 60_000;

/** When a run of a schedule was due whose entry is from later; null if it is from then, and for other entries. */
export function lateDue(entry: {
  readonly at: string;
  readonly scheduledFor?: string | undefined;
}): string | null {
  const { at, scheduledFor } = entry;
  if (scheduledFor === undefined) return null;
  return Date.parse(at) - Date.parse(scheduledFor) > onTimeMs ? scheduledFor : null;
}

/** `20 s`, `0.4 s` */
export function secondsText(ms: number): string {
  return `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;
}

/** Runs that calendars leave out, with the reason; `until` is the end for the reader. */
export function leftOutText(
  { why, count }: { readonly why: string; readonly count: number },
  until: string,
): string {
  return `${counted(count, "run")} until ${until}, by ${why}`;
}
