import type { AgentStatus } from "../../../streams/status/wire.ts";
import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { relativeTime } from "../../foundation/contracts/format.ts";
import { usedBudgetText } from "../../features/spend/spend-text.ts";

/**
 * One column of the agent table of the dashboard, `al stat` and the live view: a new column here appears in all three.
 * Texts come unescaped from runs and config; each reader escapes them for its output.
 */
export interface AgentColumn {
  readonly title: string;
  readonly value: (agent: AgentStatus, moment: Moment) => ColumnValue;
  /** The dashboard shows it if the text is empty. */
  readonly emptyText: string;
  /** Characters on a terminal; null for texts of any length. */
  readonly width: number | null;
  /** A narrow live view omits the column with the lowest number first; null is always shown. */
  readonly keep: number | null;
  /** The column shows distances from now, which lie on this side. */
  readonly side?: "past" | "future";
  /** Only the live view has it: the other two show the number beside the state. */
  readonly isLiveOnly?: true;
}

/** When agents are shown. `now` is epoch ms; a paused scheduler skips cron ticks. */
export interface Moment {
  readonly paused: boolean;
  readonly draining: boolean;
  readonly now: number;
}

export interface ColumnValue {
  /** Empty without a value. */
  readonly text: string;
  readonly tone: Tone;
  /** The moment whose distance is the text, ISO 8601; undefined if the column has no `side`. */
  readonly at?: string | null;
}

/** The meaning of a colour. */
export type Tone = "plain" | "muted" | "good" | "busy" | "warning" | "error";

const stateTones: Readonly<Record<AgentStatus["state"], Tone>> = {
  idle: "muted",
  running: "good",
  building: "busy",
  waiting: "warning",
  blocked: "warning",
  error: "error",
};

export const agentColumns: readonly AgentColumn[] = [
  column("Agent", { width: null, keep: null }, ({ name }) => plainValue(name)),
  column("State", { width: "building".length, keep: null }, (agent) => ({
    text: stateText(agent),
    tone: stateTones[agent.state],
  })),
  column("Status", { width: null, keep: null }, statusValue),
  column(
    "Last Run",
    { width: "59 min ago".length, keep: 2, side: "past", emptyText: "never" },
    ({ lastRunAt }, { now }) => momentValue(lastRunAt, now, Math.min),
  ),
  column("Duration", { width: "9 min 59 s".length, keep: 1 }, durationValue),
  column("Next Run", { width: "in 59 min".length, keep: 4, side: "future" }, nextRunValue),
  column("Cost Today", { width: "Cost Today".length, keep: 0 }, costValue),
  column("Queue", { width: "Queue".length, keep: 3, isLiveOnly: true }, ({ queued }) => ({
    text: queued === 0 ? "" : String(queued),
    tone: "warning",
  })),
];

function column(
  title: string,
  options: Omit<AgentColumn, "title" | "value" | "emptyText"> & { readonly emptyText?: string },
  value: AgentColumn["value"],
): AgentColumn {
  return { title, emptyText: "–", ...options, value };
}

function plainValue(text: string): ColumnValue {
  return { text, tone: "plain" };
}

function statusValue(agent: AgentStatus, { now }: Moment): ColumnValue {
  const { usedBudget, statusText, warning } = agent;
  const error = errorToShow(agent);
  if (error !== null)
    return { text: causeFirst(error), tone: isBlocked(agent) ? "warning" : "error" };
  if (usedBudget !== null) return { text: usedBudgetText(usedBudget, now), tone: "warning" };
  if (statusText !== null) return plainValue(statusText);
  return { text: warning ?? "", tone: "warning" };
}

/** The clocks of scheduler and reader differ: a past moment is never shown as in the future, nor a future one as past. */
function momentValue(at: string | null, now: number, bound: typeof Math.min): ColumnValue {
  const text = at === null ? "" : relativeTime(bound(Date.parse(at), now), now);
  return { text, tone: at === null ? "muted" : "plain", at };
}

/** The duration of the last run; while one runs, its time so far. */
function durationValue(agent: AgentStatus, { now }: Moment): ColumnValue {
  const { running, lastRunAt, lastDurationMs } = agent;
  const isRunning = running > 0 && lastRunAt !== null;
  const ms = isRunning ? Math.max(0, now - Date.parse(lastRunAt)) : lastDurationMs;
  return plainValue(ms === null ? "" : durationText(ms));
}

function nextRunValue({ enabled, nextRunAt }: AgentStatus, moment: Moment): ColumnValue {
  const { now, paused, draining } = moment;
  if (!enabled || draining || nextRunAt === null) return momentValue(null, now, Math.max);
  return paused
    ? { text: "paused", tone: "warning", at: null }
    : momentValue(nextRunAt, now, Math.max);
}

/** Empty once the day of `spentToday` is over: the first call to a model of the new day begins a new sum. */
function costValue({ spentToday }: AgentStatus, { now }: Moment): ColumnValue {
  const isOver = spentToday === null || Date.parse(spentToday.endsAt) <= now;
  return plainValue(isOver ? "" : usdText(nanoOfUsd(spentToday.usd)));
}

/** Why no run of the agent starts by itself: it was disabled, or its config says scale = 0. Null while it is enabled. */
export function disabledText({ enabled, scale, models }: AgentStatus): string | null {
  // Every valid config has a model: an agent without one had no valid config yet.
  if (scale === 0 && models.length > 0) return "disabled by scale = 0";
  return enabled ? null : "disabled";
}

/** `gathering 4, starts in 20 s`; null while no delivery gathers. `now` is epoch ms. */
export function gatheringText({ gathering }: AgentStatus, now: number): string | null {
  if (gathering === undefined) return null;
  const { deliveries, startsAt } = gathering;
  return `gathering ${deliveries}, starts ${relativeTime(Math.max(Date.parse(startsAt), now), now)}`;
}

/** The error; null for a run over a budget that is still used up, as the budget is shown with its own hint. */
export function errorToShow({ error, usedBudget, lastOutcome }: AgentStatus): string | null {
  const isOfBudget = lastOutcome === "over_budget" && error?.startsWith("over budget") === true;
  return usedBudget !== null && isOfBudget ? null : error;
}

/** `blocked: budget`. */
export function stateText({ state, blockedBy }: AgentStatus): string {
  return blockedBy === null ? state : `${state}: ${blockedBy}`;
}

/** Whether it fails without an error of its runs: money, a key, an image or the machine is missing. */
export function isBlocked({ state }: AgentStatus): boolean {
  return state === "blocked" || state === "waiting";
}

/** An error for a list: the cause first, then its place in a file. */
export function causeFirst(error: string): string {
  const text = error.replace(/^failed: /, "");
  const [, place, cause] = /^(\S+\.(?:toml|md)[:\d]*) {2}(.+)$/s.exec(text) ?? [];
  return cause === undefined ? text : `${cause} · ${place}`;
}

/** The cost so far of the agent's running runs: `now $0.05`; null before their first model call. */
export function runningCostText({ runningUsd }: AgentStatus): string | null {
  return runningUsd === null ? null : `now ${usdText(nanoOfUsd(runningUsd))}`;
}
