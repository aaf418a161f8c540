import type { AgentStatus } from "../../../streams/status/wire.ts";
import { columnsFor, gap } from "./agent-columns.ts";
import type { AgentColumn } from "./agent-columns.ts";
import { cut, pad } from "./fit.ts";
import type { ScreenStyle } from "./screen-style.ts";

/** Columns before a row: where the selected one is marked. */
const margin = 2;

export interface AgentTable {
  readonly agents: readonly AgentStatus[];
  /** Index of the selected agent. */
  readonly selected: number;
  readonly paused: boolean;
}

/** A head and as many rows as there is room for, around the selected one. Only these are rendered. */
export function agentTable({ agents, selected, paused }: AgentTable, style: ScreenStyle): string[] {
  const { columns, rows, colors } = style;
  const first = windowStart({ index: selected, room: rows - 1, length: agents.length });
  const shown = agents.slice(first, first + rows - 1);
  const cells = columnsFor(shown, columns - margin);
  const head = cells.map(({ title, width }) => pad(title, width)).join(" ".repeat(gap));
  const lines = shown.map((agent, index) => {
    const isSelected = first + index === selected;
    return (
      (isSelected ? colors.cyan("> ") : "  ") + row(agent, isSelected, cells, { ...style, paused })
    );
  });
  return [colors.dim(`  ${head}`), ...lines].map((line) => cut(line.trimEnd(), columns));
}

function row(
  agent: AgentStatus,
  isSelected: boolean,
  columns: readonly AgentColumn[],
  style: ScreenStyle & { readonly paused: boolean },
): string {
  const cells = columns.map(({ cell, width }) => pad(cell(agent, style), width));
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
