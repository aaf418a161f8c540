import type { AgentStatus, RecentLog } from "../../../../streams/status/wire.ts";
import { plainLine } from "../terminal/format.ts";
import { formatLog } from "../logs/log-line.ts";
import type { Colors } from "../terminal/output.ts";
import { agentTable, widthForName } from "./agent-table.ts";
import { runningCostText, errorToShow } from "../../../foundation/contracts/agent-columns.ts";
import { usedBudgetAdvice } from "../../../foundation/contracts/spend-text.ts";
import { cut, widthOf, wrap } from "../terminal/fit.ts";
import { footer } from "./footer.ts";
import type { FooterFacts } from "./footer.ts";
import { header } from "./header.ts";
import type { HeaderFacts } from "./header.ts";
import type { ScreenStyle } from "./screen.ts";
import { selectedIndex, shownAgents } from "./view-state.ts";
import type { ViewState } from "./view-state.ts";

export interface OverviewFacts extends FooterFacts, HeaderFacts {
  readonly view: ViewState;
}

const shownErrorLines = 4;

/** The first screen: agents, the details of the selected one, and the latest log lines; `rows` lines in all. */
export function overview(facts: OverviewFacts, style: ScreenStyle): string[] {
  const { snapshot, view } = facts;
  const { scheduler, recentLogs } = snapshot;
  const agents = shownAgents(snapshot.agents, view);
  const { rows } = style;
  const top = header(scheduler, snapshot.agents, { ...style, ...facts }).slice(
    0,
    Math.max(1, rows - 4),
  );
  const selected = selectedIndex(
    view,
    agents.map(({ name }) => name),
  );
  const agent = agents[selected];
  const place = `${selected + 1} of ${agents.length}`;
  const detail = agent === undefined ? [] : detailOf(agent, place, style);
  const wanted = {
    table: 1 + Math.max(1, agents.length),
    detail: detail.length,
    log: recentLogs.length,
  };
  const room = shareRows(rows - top.length - 1, wanted);
  const table =
    agent === undefined
      ? noAgents(snapshot.agents.length, style)
      : agentTable({ agents, selected, scheduler }, { ...style, rows: room.table });
  const body = [
    ...table.slice(0, room.table),
    ...detail.slice(0, room.detail),
    ...logLines(recentLogs, { ...style, rows: room.log }),
  ];
  const blank = Array.from({ length: Math.max(0, rows - top.length - 1 - body.length) }, () => "");
  return [...top, ...body, ...blank, footer(facts, style)].slice(-rows);
}

/** Rows for each part. The table comes first; where there are few, the others do without. */
export function shareRows(
  rows: number,
  wanted: { readonly table: number; readonly detail: number; readonly log: number },
): { readonly table: number; readonly detail: number; readonly log: number } {
  if (rows < 8) return { table: Math.max(0, rows), detail: 0, log: 0 };
  const detail = Math.min(wanted.detail, rows < 14 ? 2 : wanted.detail);
  const leastLog = Math.min(1 + wanted.log, Math.max(3, Math.floor(rows / 3)));
  const table = Math.min(wanted.table, rows - detail - leastLog);
  return { table, detail, log: Math.min(1 + wanted.log, rows - detail - table) };
}

function noAgents(count: number, { columns, colors }: ScreenStyle): string[] {
  if (count > 0) return ["", "No agent has this in its name.", ""];
  const text = `No agents yet. In another terminal, ${colors.bold("al agent new")} makes one; it appears here at once.`;
  return ["", ...wrap(text, columns), ""];
}

/** A rule with the agent's name, its place and what starts it; its error or status with all the room it needs. */
function detailOf(agent: AgentStatus, place: string, style: ScreenStyle): string[] {
  const { columns, colors, now } = style;
  const { name, usedBudget, warning, statusText, triggers, runtime, models } = agent;
  const known = [triggers.length === 0 ? "no trigger" : triggers.join(", "), runtime, ...models];
  // Without models there was no good config yet, and nothing is known.
  const error = errorToShow(agent);
  const cost = runningCostText(agent);
  const facts = [...(models.length === 0 ? [] : known), ...(cost === null ? [] : [cost])];
  const title = [name, ...facts, place].join(" · ");
  // One line even without a status: the log below must not jump whenever a run begins and ends.
  const wrapped = (text: string): string[] =>
    wrap(plainLine(text), columns).slice(0, shownErrorLines);
  const lines =
    error === null ? [cut(plainLine(statusText ?? ""), columns)] : wrapped(error).map(colors.red);
  const used = usedBudget && usedBudgetAdvice(usedBudget, now);
  const warned = [used, warning].flatMap((text) => (text === null ? [] : wrapped(text)));
  return [rule(plainLine(title), style), ...lines, ...warned.map(colors.yellow)];
}

/** A line across the screen with a title in it. */
function rule(
  title: string,
  { columns, colors }: { readonly columns: number; readonly colors: Colors },
): string {
  const head = cut(`── ${title} `, columns);
  return colors.dim(head + "─".repeat(Math.max(0, columns - widthOf(head))));
}

function logLines(logs: readonly RecentLog[], style: ScreenStyle): string[] {
  const { rows, columns, colors, now } = style;
  if (rows < 2) return [];
  const lines = logs.slice(-(rows - 1)).map(({ time, level, agent: name, msg }) => {
    const agent = cut(plainLine(name), widthForName(columns));
    const entry = { time: Date.parse(time), level, agent, msg: plainLine(msg) };
    return cut(formatLog(entry, { colors, showAgent: true, now }), columns);
  });
  return [rule("Log", style), ...lines];
}
