import type {
  AgentState,
  AgentStatus,
  SchedulerStatus,
  StatusSnapshot,
} from "../../streams/status/wire.ts";
import { durationText } from "../contracts/format.ts";
import { plain, plainLine, relative } from "./format.ts";
import type { Colors } from "./output.ts";
import { renderTable } from "./table.ts";
import type { TableColumn } from "./table.ts";

export interface StatusStyle {
  readonly colors: Colors;
  /** Width to fit; null for no limit. */
  readonly columns: number | null;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}

const columns: readonly TableColumn[] = [
  { title: "Agent", shrinks: true },
  { title: "State" },
  { title: "Status", shrinks: true },
  { title: "Last Run" },
  { title: "Duration" },
  { title: "Next Run" },
];

/** The scheduler in a line, the agents with the dashboard's columns, and every error and warning in full. */
export function renderStatus(snapshot: StatusSnapshot, style: StatusStyle): string {
  const { agents } = snapshot;
  const table =
    agents.length === 0
      ? "No agents yet: al agent new makes one."
      : renderTable(
          columns,
          agents.map((agent) => rowOf(agent, snapshot.scheduler, style)),
          { width: style.columns, colors: style.colors },
        );
  return [headOf(snapshot, style), "", table, ...problemsOf(snapshot, style)].join("\n");
}

function headOf({ scheduler }: StatusSnapshot, { colors, now }: StatusStyle): string {
  const parts = [
    colors.bold(plainLine(scheduler.project)),
    `started ${relative(scheduler.startedAt, now)}`,
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

function rowOf(
  agent: AgentStatus,
  { paused, draining }: SchedulerStatus,
  style: StatusStyle,
): string[] {
  return [
    agent.name,
    stateColor(agent.state, style.colors)(agent.state),
    statusOf(agent, style),
    relative(agent.lastRunAt, style.now),
    durationOf(agent, style.now),
    draining ? "" : nextRunOf(agent, { ...style, paused }),
  ];
}

/** Who keeps the agent from running: somebody who paused it, or its own config; null for nobody. */
export function disabledBy({ enabled, scale, models }: AgentStatus): string | null {
  // Every valid config has a model: without one there was none yet.
  if (scale === 0 && models.length > 0) return "disabled by scale = 0";
  return enabled ? null : "disabled";
}

/** The time that the last run took; of one that goes on, its time so far. `now` is epoch ms. */
export function durationOf(agent: AgentStatus, now: number): string {
  const { running, lastRunAt, lastDurationMs } = agent;
  if (running > 0 && lastRunAt !== null)
    return durationText(Math.max(0, now - Date.parse(lastRunAt)));
  return lastDurationMs === null ? "" : durationText(lastDurationMs);
}

/** While the scheduler is paused, a cron tick that comes is skipped. */
export function nextRunOf(
  { enabled, nextRunAt }: AgentStatus,
  { now, paused, colors }: Pick<StatusStyle, "now" | "colors"> & { readonly paused: boolean },
): string {
  if (!enabled || nextRunAt === null) return "";
  return paused ? colors.yellow("paused") : relative(nextRunAt, now);
}

/** Characters of an error in a table without a limit: the whole one stands below. */
const shownError = 60;

function statusOf(agent: AgentStatus, { columns: width }: StatusStyle): string {
  const disabled = disabledBy(agent);
  const notes = [
    ...(disabled === null ? [] : [disabled]),
    ...(agent.running > 1 ? [`${agent.running} runs`] : []),
    ...(agent.queued > 0 ? [`${agent.queued} queued`] : []),
  ];
  const whole = plainLine(agent.error ?? agent.statusText ?? agent.warning ?? "");
  const isProblem = agent.error !== null || agent.statusText === null;
  const text = isProblem && width === null ? shortened(whole) : whole;
  if (notes.length === 0) return text;
  return text === "" ? notes.join(", ") : `${notes.join(", ")}: ${text}`;
}

function shortened(text: string): string {
  return text.length <= shownError ? text : `${text.slice(0, shownError - 1).trimEnd()}…`;
}

export function stateColor(state: AgentState, colors: Colors): (text: string) => string {
  const byState = {
    idle: colors.dim,
    running: colors.green,
    building: colors.cyan,
    error: colors.red,
  };
  return byState[state];
}

/** The table cuts texts to fit; here they are whole, so that a terminal can jump to `file:line:column`. */
function problemsOf({ scheduler, agents }: StatusSnapshot, { colors }: StatusStyle): string[] {
  const ofAgents = (key: "error" | "warning"): string[] =>
    agents.flatMap((agent) => (agent[key] === null ? [] : [`${agent.name}: ${agent[key]}`]));
  const errors = [...(scheduler.error === null ? [] : [scheduler.error]), ...ofAgents("error")];
  const warnings = [...scheduler.warnings, ...ofAgents("warning")];
  if (errors.length + warnings.length === 0) return [];
  return [
    "",
    ...errors.map((error) => `${colors.red("error")} ${plain(error)}`),
    ...warnings.map((warning) => `${colors.yellow("warning")} ${plain(warning)}`),
  ];
}
