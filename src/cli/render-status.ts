import type { AgentState, AgentStatus, StatusSnapshot } from "../../streams/status/wire.ts";
import { duration, plain, plainLine, relative } from "./format.ts";
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

/** The scheduler in a line, the agents with the dashboard's columns, and every error in full. */
export function renderStatus(snapshot: StatusSnapshot, style: StatusStyle): string {
  const { agents } = snapshot;
  const table =
    agents.length === 0
      ? "No agents yet: al agent new makes one."
      : renderTable(
          columns,
          agents.map((agent) => rowOf(agent, style)),
          { width: style.columns, colors: style.colors },
        );
  return [headOf(snapshot, style), "", table, ...errorsOf(snapshot, style)].join("\n");
}

function headOf({ scheduler }: StatusSnapshot, { colors, now }: StatusStyle): string {
  const parts = [
    colors.bold(plainLine(scheduler.project)),
    `started ${relative(scheduler.startedAt, now)}`,
    `${scheduler.running} running`,
    ...(scheduler.gatewayUrl === null ? [] : [scheduler.gatewayUrl]),
  ];
  const line = parts.join(colors.dim(" · "));
  if (!scheduler.paused) return line;
  return `${line}\n${colors.yellow("Paused: cron jobs are skipped until al resume.")}`;
}

function rowOf(agent: AgentStatus, style: StatusStyle): string[] {
  return [
    agent.name,
    stateColor(agent.state, style.colors)(agent.state),
    statusOf(agent),
    relative(agent.lastRunAt, style.now),
    agent.lastDurationMs === null ? "" : duration(agent.lastDurationMs),
    agent.enabled ? relative(agent.nextRunAt, style.now) : "",
  ];
}

function statusOf(agent: AgentStatus): string {
  const notes = [
    ...(agent.enabled ? [] : ["disabled"]),
    ...(agent.running > 1 ? [`${agent.running} runs`] : []),
    ...(agent.queued > 0 ? [`${agent.queued} queued`] : []),
  ];
  const text = plainLine(agent.error ?? agent.statusText ?? "");
  if (notes.length === 0) return text;
  return text === "" ? notes.join(", ") : `${notes.join(", ")}: ${text}`;
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

/** The table cuts errors to fit; here they are whole, so that a terminal can jump to `file:line:column`. */
function errorsOf({ scheduler, agents }: StatusSnapshot, { colors }: StatusStyle): string[] {
  const errors = [
    ...(scheduler.error === null ? [] : [scheduler.error]),
    ...agents.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`])),
  ];
  if (errors.length === 0) return [];
  return ["", ...errors.map((error) => `${colors.red("error")} ${plain(error)}`)];
}
