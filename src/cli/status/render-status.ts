import type { AgentStatus, SchedulerStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import {
  agentColumns,
  disabledText,
  runningCostText,
  errorToShow,
} from "../../contracts/agent-columns.ts";
import type { AgentColumn, ColumnValue, Moment } from "../../contracts/agent-columns.ts";
import { relativeTime } from "../../contracts/format.ts";
import { usedBudgetAdvice } from "../../contracts/spend-text.ts";
import { widthOf } from "../terminal/fit.ts";
import { plain, plainLine } from "../terminal/format.ts";
import { toneColor } from "../terminal/output.ts";
import type { Colors } from "../terminal/output.ts";
import { renderTable } from "../terminal/table.ts";

export interface StatusStyle {
  readonly colors: Colors;
  /** Width to fit; null for no limit. */
  readonly columns: number | null;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}

const columns = agentColumns.filter(({ isLiveOnly }) => isLiveOnly !== true);

/** The scheduler in a line, the agents with the dashboard's columns, and every error and warning in full. */
export function renderStatus(snapshot: StatusSnapshot, style: StatusStyle): string {
  const { agents, scheduler } = snapshot;
  const moment = { now: style.now, paused: scheduler.paused, draining: scheduler.draining };
  const table =
    agents.length === 0
      ? "No agents yet: al agent new makes one."
      : agentTable(agents, moment, style);
  return [headOf(snapshot, style), "", table, ...problemsOf(snapshot, style)].join("\n");
}

interface FilledColumn {
  readonly column: AgentColumn;
  readonly cells: readonly string[];
}

function agentTable(agents: readonly AgentStatus[], moment: Moment, style: StatusStyle): string {
  const filled = columns.map((column): FilledColumn => {
    return { column, cells: agents.map((agent) => cellText(column, agent, moment, style)) };
  });
  const shown = fitting(filled, style.columns);
  return renderTable(
    shown.map(({ column: { title, width } }) =>
      width === null ? { title, shrinks: true } : { title },
    ),
    agents.map((_agent, index) => shown.map(({ cells }) => cells[index] ?? "")),
    { width: style.columns, colors: style.colors },
  );
}

/** A narrow terminal leaves out the column with the lowest `keep` first. */
function fitting(filled: readonly FilledColumn[], room: number | null): readonly FilledColumn[] {
  const least = filled.reduce((sum, one) => sum + leastWidth(one), 0) + gap * (filled.length - 1);
  const keeps = filled.flatMap(({ column: { keep } }) => (keep === null ? [] : [keep]));
  if (room === null || least <= room || keeps.length === 0) return filled;
  const first = Math.min(...keeps);
  return fitting(
    filled.filter(({ column }) => column.keep !== first),
    room,
  );
}

/** Spaces between two columns. */
const gap = 2;
const narrowestText = 8;

function leastWidth({ column: { title, width }, cells }: FilledColumn): number {
  const longest = Math.max(widthOf(title), ...cells.map(widthOf));
  return width === null ? Math.min(longest, narrowestText) : longest;
}

function headOf({ scheduler }: StatusSnapshot, { colors, now }: StatusStyle): string {
  const parts = [
    colors.bold(plainLine(scheduler.project)),
    `started ${relativeTime(Date.parse(scheduler.startedAt), now)}`,
    `${scheduler.running} running`,
    ...(scheduler.gatewayUrl === null ? [] : [scheduler.gatewayUrl]),
  ];
  const line = parts.join(colors.dim(" · "));
  const note = noteOf(scheduler);
  return note === null ? line : `${line}\n${colors.yellow(note)}`;
}

function noteOf({ draining, paused }: SchedulerStatus): string | null {
  if (draining)
    return "Stopping: nothing is started any more, running runs get their grace period.";
  return paused ? "Paused: cron jobs are skipped until al resume." : null;
}

function cellText(
  column: AgentColumn,
  agent: AgentStatus,
  moment: Moment,
  style: StatusStyle,
): string {
  const value = column.value(agent, moment);
  if (column.title === "Status") return statusOf(agent, value, style);
  return value.text === "" ? "" : toneColor(value.tone, style.colors)(value.text);
}

/** Characters of an error in a table without a limit: the whole one stands below. */
const shownError = 60;

function statusOf(
  agent: AgentStatus,
  { text: status, tone }: ColumnValue,
  { columns: width }: StatusStyle,
): string {
  const disabled = disabledText(agent);
  const cost = runningCostText(agent);
  const notes = [
    ...(disabled === null ? [] : [disabled]),
    ...(agent.running > 1 ? [`${agent.running} runs`] : []),
    ...(cost === null ? [] : [cost]),
    ...(agent.queued > 0 ? [`${agent.queued} queued`] : []),
  ];
  const whole = plainLine(status);
  const text = tone !== "plain" && width === null ? shortened(whole) : whole;
  if (notes.length === 0) return text;
  return text === "" ? notes.join(", ") : `${notes.join(", ")}: ${text}`;
}

function shortened(text: string): string {
  return text.length <= shownError ? text : `${text.slice(0, shownError - 1).trimEnd()}…`;
}

/** The table cuts texts to fit; here they are whole, so that a terminal can jump to `file:line:column`. */
function problemsOf({ scheduler, agents }: StatusSnapshot, { colors, now }: StatusStyle): string[] {
  const ofAgents = (textOf: (agent: AgentStatus) => string | null): string[] =>
    agents.flatMap((agent) => {
      const text = textOf(agent);
      return text === null ? [] : [`${agent.name}: ${text}`];
    });
  const errors = [...(scheduler.error === null ? [] : [scheduler.error]), ...ofAgents(errorToShow)];
  const budgets = agents.flatMap(({ name, usedBudget }) =>
    usedBudget === null ? [] : [`${name} ${usedBudgetAdvice(usedBudget, now)}`],
  );
  const warnings = [...scheduler.warnings, ...budgets, ...ofAgents(({ warning }) => warning)];
  if (errors.length + warnings.length === 0) return [];
  return [
    "",
    ...errors.map((error) => `${colors.red("error")} ${plain(error)}`),
    ...warnings.map((warning) => `${colors.yellow("warning")} ${plain(warning)}`),
  ];
}
