import type {
  AgentStatus,
  SchedulerStatus,
  StatusSnapshot,
} from "../../../../streams/status/wire.ts";
import {
  agentColumns,
  disabledText,
  gatheringText,
  runningCostText,
  errorToShow,
} from "../../views/agent-columns.ts";
import type { AgentColumn, ColumnValue, Moment } from "../../views/agent-columns.ts";
import { counted, relativeTime } from "../../../foundation/contracts/format.ts";
import type { StoredStatus } from "../../operations/stored-project.ts";
import { pauseText } from "../../views/pause-text.ts";
import { usedBudgetAdvice } from "../../../features/spend/spend-text.ts";
import { cut, wrap } from "../terminal/fit.ts";
import { plain, plainLine } from "../terminal/format.ts";
import { toneColor, type Colors } from "../terminal/output.ts";
import { leastWidth, renderTable, type TableColumn } from "../terminal/table.ts";

export interface StatusStyle {
  readonly colors: Colors;
  /** Width to fit; null for no limit. */
  readonly columns: number | null;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}

/** The scheduler in a line, the agents as a table, and every error and warning in full. */
export function renderStatus(status: StatusSnapshot | StoredStatus, style: StatusStyle): string {
  const { agents, scheduler } = status;
  const { paused, error, warnings } = scheduler ?? status;
  const pausedNote = pauseText(scheduler ?? status, style.now);
  const draining = scheduler?.draining ?? false;
  const { colors } = style;
  const note = draining ? drainingNote : pausedNote;
  return [
    (scheduler === null ? storedHead(status, style) : headOf(scheduler, style)).join(
      colors.dim(" · "),
    ),
    ...(note === null ? [] : wrap(note, style.columns ?? 0).map(colors.yellow)),
    "",
    tableOf(agents, { now: style.now, paused, draining }, style),
    ...problemsOf({ error, warnings, agents }, style),
  ].join("\n");
}

function tableOf(agents: readonly AgentStatus[], moment: Moment, style: StatusStyle): string {
  if (agents.length === 0) return "No agents yet: al agent new creates one.";
  return agentTable(agents, moment, style);
}

/** Layout of the live view's table: widths stay while texts change, and the status takes the rest. */
interface LiveTable {
  readonly selected: AgentStatus;
  readonly nameWidth: number;
}

/** A head and a row for each agent. A narrow terminal leaves out the column with the lowest `keep` first. */
export function agentTable(
  agents: readonly AgentStatus[],
  moment: Moment,
  style: StatusStyle,
  live: LiveTable | null = null,
): string {
  const { columns: width } = style;
  let shown = agentColumns.filter(({ isLiveOnly }) => live !== null || isLiveOnly !== true);
  const cells = new Map(
    shown.map((column) => [
      column,
      agents.map((agent) => cellText(column, agent, moment, style, live)),
    ]),
  );
  const parts = (): [TableColumn[], string[][]] => [
    shown.map((column) => tableColumn(column, live === null ? 0 : (width ?? 0))),
    agents.map((_agent, row) => shown.map((column) => cells.get(column)?.[row] ?? "")),
  ];
  for (let keep = 0; keep < agentColumns.length; keep++) {
    if (width === null || leastWidth(...parts()) <= width) break;
    shown = shown.filter((column) => column.keep !== keep);
  }
  return renderTable(...parts(), style);
}

/** Long texts shrink if room is short, but a name is never cut: other commands take it. */
function tableColumn({ title, width }: AgentColumn, liveWidth: number): TableColumn {
  if (title === "Agent") return { title };
  if (width === null) return { title, shrinks: true, least: liveWidth };
  return { title, least: liveWidth === 0 ? 0 : width };
}

const drainingNote = "Stopping: no new runs start, running runs get their grace period.";

function headOf(scheduler: SchedulerStatus, { colors, now }: StatusStyle): string[] {
  return [
    colors.bold(plainLine(scheduler.project)),
    `started ${relativeTime(Date.parse(scheduler.startedAt), now)}`,
    `${scheduler.running} running`,
    ...questionsText(scheduler.questions, colors),
    ...(scheduler.gatewayUrl === null ? [] : [scheduler.gatewayUrl]),
  ];
}

function questionsText(open: number, { yellow }: Colors): readonly string[] {
  const waits = `${counted(open, "question")} ${open === 1 ? "waits" : "wait"}: al questions`;
  return open === 0 ? [] : [yellow(waits)];
}

function storedHead(
  { project, lastAliveAt }: StoredStatus,
  { colors, now }: StatusStyle,
): string[] {
  const ran =
    lastAliveAt === null ? [] : [`last ran ${relativeTime(Date.parse(lastAliveAt), now)}`];
  return [colors.bold(plainLine(project)), colors.yellow("no scheduler"), ...ran];
}

function cellText(
  column: AgentColumn,
  agent: AgentStatus,
  moment: Moment,
  style: StatusStyle,
  live: LiveTable | null,
): string {
  const { colors } = style;
  const value = column.value(agent, moment);
  if (column.title === "Status") return statusOf(agent, value, style, live !== null);
  if (column.title === "Agent" && live !== null) {
    const name = cut(agent.name, live.nameWidth);
    return agent === live.selected ? colors.inverse(name) : name;
  }
  return value.text === "" ? "" : toneColor(value.tone, colors)(plainLine(value.text));
}

/** Characters of a status in a table without a limit: errors stand below in full. */
const shownError = 60;

function statusOf(
  agent: AgentStatus,
  { text: status, tone }: ColumnValue,
  { columns: width, colors, now }: StatusStyle,
  isLive: boolean,
): string {
  const disabled = disabledText(agent);
  const notes = [
    disabled === null ? null : colors.yellow(disabled),
    agent.running > 1 ? `${agent.running} runs` : null,
    // The live view shows both elsewhere.
    isLive ? null : runningCostText(agent),
    isLive || agent.queued === 0 ? null : `${agent.queued} queued`,
    gatheringText(agent, now),
  ].filter((note) => note !== null);
  const whole = plainLine(status);
  const text = width === null ? shortened(whole) : whole;
  const coloured = text === "" ? [] : [toneColor(tone, colors)(text)];
  return [...(notes.length === 0 ? [] : [notes.join(", ")]), ...coloured].join(": ");
}

function shortened(text: string): string {
  return text.length <= shownError ? text : `${text.slice(0, shownError - 1).trimEnd()}…`;
}

/** The problems of agents in full, so that a terminal can jump to `file:line:column`; the table cuts them. */
function problemsOf(
  status: Pick<StoredStatus, "error" | "warnings" | "agents">,
  { colors, now, columns }: StatusStyle,
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
  ].flatMap((text) => text.split("\n").flatMap((line) => wrap(line, columns ?? 0)));
}
