import type {
  AgentStatus,
  SchedulerStatus,
  StatusSnapshot,
} from "../../../../streams/status/wire.ts";
import {
  agentColumns,
  disabledText,
  runningCostText,
  errorToShow,
} from "../../../foundation/contracts/agent-columns.ts";
import type {
  AgentColumn,
  ColumnValue,
  Moment,
} from "../../../foundation/contracts/agent-columns.ts";
import { relativeTime } from "../../../foundation/contracts/format.ts";
import type { StoredStatus } from "../../../foundation/contracts/stored-status.ts";
import { usedBudgetAdvice } from "../../../foundation/contracts/spend-text.ts";
import { plain, plainLine } from "../terminal/format.ts";
import { toneColor } from "../terminal/output.ts";
import type { Colors } from "../terminal/output.ts";
import { leastWidth, renderTable } from "../terminal/table.ts";
import type { TableColumn } from "../terminal/table.ts";

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
  const { error, warnings } = scheduler;
  const problems = problemsOf({ error, warnings, agents }, style);
  return [headOf(snapshot, style), "", tableOf(agents, moment, style), ...problems].join("\n");
}

/** The same of a project that no scheduler runs. */
export function renderStoredStatus(status: StoredStatus, style: StatusStyle): string {
  const { agents, paused } = status;
  const moment = { now: style.now, paused, draining: false };
  const problems = problemsOf(status, style);
  return [storedHead(status, style), "", tableOf(agents, moment, style), ...problems].join("\n");
}

function tableOf(agents: readonly AgentStatus[], moment: Moment, style: StatusStyle): string {
  if (agents.length === 0) return "No agents yet: al agent new makes one.";
  return agentTable(agents, moment, style);
}

interface FilledColumn {
  readonly column: AgentColumn;
  readonly cells: readonly string[];
}

function agentTable(agents: readonly AgentStatus[], moment: Moment, style: StatusStyle): string {
  const filled = columns.map((column): FilledColumn => {
    return { column, cells: agents.map((agent) => cellText(column, agent, moment, style)) };
  });
  const [shown, rows] = tableParts(fitting(filled, style.columns));
  return renderTable(shown, rows, { width: style.columns, colors: style.colors });
}

/** A narrow terminal leaves out the column with the lowest `keep` first. */
function fitting(filled: readonly FilledColumn[], room: number | null): readonly FilledColumn[] {
  const least = leastWidth(...tableParts(filled));
  const keeps = filled.flatMap(({ column: { keep } }) => (keep === null ? [] : [keep]));
  if (room === null || least <= room || keeps.length === 0) return filled;
  const first = Math.min(...keeps);
  return fitting(
    filled.filter(({ column }) => column.keep !== first),
    room,
  );
}

function tableParts(filled: readonly FilledColumn[]): [TableColumn[], string[][]] {
  const columns = filled.map(({ column }): TableColumn => {
    return isCut(column) ? { title: column.title, shrinks: true } : { title: column.title };
  });
  const count = filled[0]?.cells.length ?? 0;
  const rows = Array.from({ length: count }, (_row, index) =>
    filled.map(({ cells }) => cells[index] ?? ""),
  );
  return [columns, rows];
}

/** Whether its texts give way where room is short. A name is whole: other commands take it. */
function isCut({ title, width }: AgentColumn): boolean {
  return width === null && title !== "Agent";
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

function storedHead(
  { project, lastAliveAt, paused }: StoredStatus,
  { colors, now }: StatusStyle,
): string {
  const ran =
    lastAliveAt === null ? [] : [`last ran ${relativeTime(Date.parse(lastAliveAt), now)}`];
  const parts = [colors.bold(plainLine(project)), colors.yellow("no scheduler"), ...ran];
  const line = parts.join(colors.dim(" · "));
  return paused ? `${line}\n${colors.yellow(pausedNote)}` : line;
}

const pausedNote = "Paused: cron jobs are skipped until al resume.";

function noteOf({ draining, paused }: SchedulerStatus): string | null {
  if (draining)
    return "Stopping: nothing is started any more, running runs get their grace period.";
  return paused ? pausedNote : null;
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
function problemsOf(
  status: Pick<StoredStatus, "error" | "warnings" | "agents">,
  { colors, now }: StatusStyle,
): string[] {
  const { agents } = status;
  const ofAgents = (textOf: (agent: AgentStatus) => string | null): string[] =>
    agents.flatMap((agent) => {
      const text = textOf(agent);
      return text === null ? [] : [`${agent.name}: ${text}`];
    });
  const errors = [...(status.error === null ? [] : [status.error]), ...ofAgents(errorToShow)];
  const budgets = agents.flatMap(({ name, usedBudget }) =>
    usedBudget === null ? [] : [`${name} ${usedBudgetAdvice(usedBudget, now)}`],
  );
  const warnings = [...status.warnings, ...budgets, ...ofAgents(({ warning }) => warning)];
  if (errors.length + warnings.length === 0) return [];
  return [
    "",
    ...errors.map((error) => `${colors.red("error")} ${plain(error)}`),
    ...warnings.map((warning) => `${colors.yellow("warning")} ${plain(warning)}`),
  ];
}
