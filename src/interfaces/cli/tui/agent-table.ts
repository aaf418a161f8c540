import type { AgentStatus, SchedulerStatus } from "../../../../streams/status/wire.ts";
import { cut, pad, widthOf } from "../terminal/fit.ts";
import type { ScreenStyle } from "./screen.ts";
import { agentColumns, disabledText } from "../../../foundation/contracts/agent-columns.ts";
import type {
  AgentColumn,
  ColumnValue,
  Moment,
} from "../../../foundation/contracts/agent-columns.ts";
import { plainLine } from "../terminal/format.ts";
import { toneColor } from "../terminal/output.ts";
import type { Colors } from "../terminal/output.ts";

/** Columns before a row: where the selected one is marked. */
const margin = 2;

interface AgentTable {
  readonly agents: readonly AgentStatus[];
  /** Index of the selected agent. */
  readonly selected: number;
  readonly scheduler: SchedulerStatus;
}

/** A head and as many rows as there is room for, around the selected one. Only these are rendered. */
export function agentTable(
  { agents, selected, scheduler }: AgentTable,
  style: ScreenStyle,
): string[] {
  const { columns, rows, colors, now } = style;
  const { paused, draining } = scheduler;
  const cellStyle = { colors, moment: { now, paused, draining } };
  const first = windowStart({ index: selected, room: rows - 1, length: agents.length });
  const shown = agents.slice(first, first + rows - 1);
  const cells = columnsFor(shown, columns - margin);
  const head = cells.map(({ title, width }) => pad(title, width)).join(" ".repeat(gap));
  const lines = shown.map((agent, index) => {
    const isSelected = first + index === selected;
    const mark = isSelected ? colors.cyan("> ") : "  ";
    return mark + row(agent, isSelected, cells, cellStyle);
  });
  return [colors.dim(`  ${head}`), ...lines].map((line) => cut(line.trimEnd(), columns));
}

function row(
  agent: AgentStatus,
  isSelected: boolean,
  columns: readonly FittedColumn[],
  style: CellStyle,
): string {
  const cells = columns.map((column) => pad(cellText(column, agent, style), column.width));
  const [name = "", ...rest] = cells;
  return [isSelected ? style.colors.inverse(name) : name, ...rest].join(" ".repeat(gap));
}

/** Index of the first row that is shown: the given one stays in the middle, as far as both ends allow. */
export function windowStart(list: {
  readonly index: number;
  readonly room: number;
  readonly length: number;
}): number {
  const { index, room, length } = list;
  return Math.max(0, Math.min(length - room, index - Math.floor(room / 2)));
}

/** How agents are shown: when, and in which colours. */
interface CellStyle {
  readonly colors: Colors;
  readonly moment: Moment;
}

/** A column with the room that it gets. */
interface FittedColumn extends AgentColumn {
  readonly width: number;
}

/** Spaces between two columns. */
const gap = 2;
const narrowestStatus = 14;
const widestName = 28;

/** The columns that fit: the status takes what is left, and others go before it is too narrow to read. */
function columnsFor(agents: readonly AgentStatus[], room: number): FittedColumn[] {
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
function cellText(column: AgentColumn, agent: AgentStatus, style: CellStyle): string {
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
