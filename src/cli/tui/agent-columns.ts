import type { AgentStatus } from "../../../streams/status/wire.ts";
import { agentColumns, disabledText } from "../../contracts/agent-columns.ts";
import type { AgentColumn, ColumnValue, Moment } from "../../contracts/agent-columns.ts";
import { plainLine } from "../terminal/format.ts";
import { toneColor } from "../terminal/output.ts";
import type { Colors } from "../terminal/output.ts";
import { widthOf } from "./fit.ts";

/** How agents are shown: when, and in which colours. */
export interface CellStyle {
  readonly colors: Colors;
  readonly moment: Moment;
}

/** A column with the room that it gets. */
export interface FittedColumn extends AgentColumn {
  readonly width: number;
}

/** Spaces between two columns. */
export const gap = 2;
const narrowestStatus = 14;
const widestName = 28;

/** The columns that fit: the status takes what is left, and others go before it is too narrow to read. */
export function columnsFor(agents: readonly AgentStatus[], room: number): FittedColumn[] {
  const shown = agentColumns.map((column) => ({
    ...column,
    width: firstWidth(column, agents, room),
  }));
  const left = (): number => room - shown.reduce((sum, { width }) => sum + width + gap, 0) + gap;
  while (left() < narrowestStatus) {
    const least = leastWanted(shown);
    if (least === -1) break;
    shown.splice(least, 1);
  }
  const rest = Math.max(0, left());
  return shown.map((column) => (column.title === "Status" ? { ...column, width: rest } : column));
}

function firstWidth({ title, width }: AgentColumn, agents: readonly AgentStatus[], room: number) {
  if (title !== "Agent") return width ?? 0;
  const longest = Math.max(title.length, ...agents.map(({ name }) => widthOf(name)));
  return Math.min(longest, widthForName(room));
}

/** The index of the column that goes first; -1 when all that are left stay. */
function leastWanted(columns: readonly AgentColumn[]): number {
  const keeps = columns.flatMap(({ keep }) => (keep === null ? [] : [keep]));
  return columns.findIndex(({ keep }) => keep === Math.min(...keeps));
}

/** How much of so many columns a name may take: the other columns need the most. */
export function widthForName(room: number): number {
  return Math.min(widestName, Math.max(8, Math.floor(room / 4)));
}

/** What a row holds in a column. */
export function cellText(column: AgentColumn, agent: AgentStatus, style: CellStyle): string {
  const { colors, moment } = style;
  const value = column.value(agent, moment);
  return column.title === "Status" ? statusText(value, agent, colors) : colored(value, colors);
}

function colored({ text, tone }: ColumnValue, colors: Colors): string {
  return text === "" ? "" : toneColor(tone, colors)(plainLine(text));
}

function statusText(value: ColumnValue, agent: AgentStatus, colors: Colors): string {
  const disabled = disabledText(agent);
  return [
    ...(disabled === null ? [] : [colors.yellow(disabled)]),
    ...(agent.running > 1 ? [`${agent.running} runs`] : []),
    ...(value.text === "" ? [] : [colored(value, colors)]),
  ].join(", ");
}
