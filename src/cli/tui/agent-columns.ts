import type { AgentStatus } from "../../../streams/status/wire.ts";
import { plainLine, relative } from "../format.ts";
import type { Colors } from "../output.ts";
import { disabledBy, durationOf, nextRunOf, stateColor } from "../render-status.ts";
import { widthOf } from "./fit.ts";

/** How agents are shown: when, with what, and whether cron ticks are skipped now. */
export interface CellStyle {
  readonly colors: Colors;
  /** Epoch ms. */
  readonly now: number;
  readonly paused: boolean;
}

export interface AgentColumn {
  readonly title: string;
  readonly width: number;
  readonly cell: (agent: AgentStatus, style: CellStyle) => string;
}

/** Spaces between two columns. */
export const gap = 2;
const narrowestStatus = 14;
const widestName = 28;

const stateColumn: AgentColumn = {
  title: "State",
  width: "building".length,
  cell: ({ state }, { colors }) => stateColor(state, colors)(state),
};

/** In the order in which they stand; the first to go on a narrow terminal has the lowest `keep`. */
const facts: readonly (AgentColumn & { readonly keep: number })[] = [
  {
    title: "Last Run",
    width: "59 min ago".length,
    keep: 2,
    cell: ({ lastRunAt }, { now }) => relative(lastRunAt, now),
  },
  {
    title: "Duration",
    width: "9 min 59 s".length,
    keep: 1,
    cell: (agent, { now }) => durationOf(agent, now),
  },
  { title: "Next Run", width: "in 59 min".length, keep: 4, cell: nextRunOf },
  {
    title: "Queue",
    width: "Queue".length,
    keep: 3,
    cell: ({ queued }, { colors }) => (queued === 0 ? "" : colors.yellow(String(queued))),
  },
];

/** The columns that fit: the status takes what is left, and facts go before it is too narrow to read. */
export function columnsFor(agents: readonly AgentStatus[], room: number): AgentColumn[] {
  const name = nameColumn(agents, room);
  const shown = [...facts];
  const left = (): number =>
    room - [name, stateColumn, ...shown].reduce((sum, { width }) => sum + width + gap, 0);
  while (shown.length > 0 && left() < narrowestStatus) shown.splice(leastWanted(shown), 1);
  const status = { title: "Status", width: Math.max(0, left()), cell: statusCell };
  return [name, stateColumn, status, ...shown];
}

function leastWanted(columns: readonly { readonly keep: number }[]): number {
  const lowest = Math.min(...columns.map(({ keep }) => keep));
  return columns.findIndex(({ keep }) => keep === lowest);
}

function nameColumn(agents: readonly AgentStatus[], room: number): AgentColumn {
  const longest = agents.reduce((most, { name }) => Math.max(most, widthOf(name)), 0);
  return {
    title: "Agent",
    width: Math.max("Agent".length, Math.min(longest, widthForName(room))),
    cell: ({ name }) => name,
  };
}

/** How much of so many columns a name may take: what is told of the agent needs the most. */
export function widthForName(room: number): number {
  return Math.min(widestName, Math.max(8, Math.floor(room / 4)));
}

function statusCell(agent: AgentStatus, { colors }: CellStyle): string {
  const { running, error, statusText, warning } = agent;
  const disabled = disabledBy(agent);
  const notes = [
    ...(disabled === null ? [] : [colors.yellow(disabled)]),
    ...(running > 1 ? [`${running} runs`] : []),
  ];
  const text = plainLine(error ?? statusText ?? warning ?? "");
  const isWarning = error === null && statusText === null;
  const colored = error !== null ? colors.red(text) : isWarning ? colors.yellow(text) : text;
  return [...notes, ...(text === "" ? [] : [colored])].join(", ");
}
