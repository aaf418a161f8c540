import type { AgentStatus, SchedulerStatus } from "../../../streams/status/wire.ts";
import { cellText, columnsFor, gap } from "./agent-columns.ts";
import type { CellStyle, FittedColumn } from "./agent-columns.ts";
import { cut, pad } from "./fit.ts";
import type { ScreenStyle } from "./screen-style.ts";

/** Columns before a row: where the selected one is marked. */
const margin = 2;

export interface AgentTable {
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
