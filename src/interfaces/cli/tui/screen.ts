import type { AgentStatus, RecentLog, StatusSnapshot } from "../../../../streams/status/wire.ts";
import { errorToShow, isBlocked } from "../../views/agent-columns.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { usedBudgetAdvice } from "../../../features/spend/spend-text.ts";
import { formatLog } from "../logs/log-line.ts";
import { cut, widthOf, wrap } from "../terminal/fit.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { agentTable } from "../status/render-status.ts";
import { bindings } from "./keys.ts";
import { selectedIndex, shownAgents, type ViewSource, type ViewState } from "./view-state.ts";

/** How a screen is drawn: in how much room, with which colours, and when. */
export interface ScreenStyle {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}

export interface ScreenFacts {
  readonly webUi: boolean;
  readonly apiKeyPath: string;
  readonly loginUrl: ViewSource["loginUrl"];
  readonly snapshot: StatusSnapshot;
  readonly view: ViewState;
  readonly isStopping: boolean;
}

/** The agents, the details of the selected one, and the latest log lines; `rows` lines in all. */
export function drawScreen(facts: ScreenFacts, style: ScreenStyle): string[] {
  const { snapshot } = facts;
  const { recentLogs } = snapshot;
  const agents = shownAgents(snapshot.agents, facts.view);
  const { rows } = style;
  const top = header(facts, style).slice(0, Math.max(1, rows - 4));
  const agent = agents[selectedIndex(facts.view, agents)];
  const detail = agent === undefined ? [] : detailOf(agent, style);
  const room = shareRows(rows - top.length - 1, {
    table: 1 + Math.max(1, agents.length),
    detail: detail.length,
    log: recentLogs.length,
  });
  const table =
    agent === undefined
      ? noAgents(facts, style)
      : tableLines({ ...snapshot, agents }, agent, { ...style, rows: room.table });
  const body = [
    ...table.slice(0, room.table),
    ...detail.slice(0, room.detail),
    ...logLines(recentLogs, { ...style, rows: room.log }),
  ];
  const blank = Array.from({ length: Math.max(0, rows - top.length - 1 - body.length) }, () => "");
  return [...top, ...body, ...blank, lastLine(facts, style)].slice(-rows);
}

type Rows = Readonly<Record<"table" | "detail" | "log", number>>;

/** Rows of each part. The table comes first; in little room the others have none. */
export function shareRows(rows: number, wanted: Rows): Rows {
  if (rows < 8) return { table: Math.max(0, rows), detail: 0, log: 0 };
  const detail = Math.min(wanted.detail, rows < 14 ? 2 : wanted.detail);
  const leastLog = Math.min(1 + wanted.log, Math.max(3, Math.floor(rows / 3)));
  const table = Math.min(wanted.table, rows - detail - leastLog);
  return { table, detail, log: Math.min(1 + wanted.log, rows - detail - table) };
}

/** Project and counts, the dashboard's address, and the errors of the project's own config. */
function header(facts: ScreenFacts, style: ScreenStyle): string[] {
  const { error, warnings } = facts.snapshot.scheduler;
  const { colors, columns } = style;
  const errors = error === null ? [] : wrap(`error ${plainLine(error)}`, columns).slice(0, 2);
  const [warning, ...others] = warnings;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return [
    counts(facts.snapshot, colors),
    ...address(facts, style),
    ...errors.map(colors.red),
    ...(warning === undefined ? [] : [colors.yellow(`warning ${plainLine(warning)}${more}`)]),
  ].map((line) => cut(line, columns));
}

function counts({ scheduler, agents }: StatusSnapshot, colors: Colors): string {
  const { version, project, running, paused, pausedWork } = scheduler;
  const failed = agents.filter(({ state }) => state === "error").length;
  const blocked = agents.filter(isBlocked).length;
  return [
    colors.bold(plainLine(project)),
    ...(paused ? [colors.yellow(pausedWork ? "all new work paused" : "schedules paused")] : []),
    counted(agents.length, "agent"),
    running === 0 ? "0 running" : colors.green(`${running} running`),
    ...(failed === 0 ? [] : [colors.red(`${failed} with an error`)]),
    ...(blocked === 0 ? [] : [colors.yellow(`${blocked} blocked or waiting`)]),
    colors.dim(`Almanac ${version}`),
  ].join(colors.dim(" · "));
}

/** The dashboard's address, its key and the login link are wrapped, never cut. */
function address(facts: ScreenFacts, { colors, columns }: ScreenStyle): string[] {
  const { snapshot, webUi, apiKeyPath, loginUrl } = facts;
  const { gatewayUrl } = snapshot.scheduler;
  if (!webUi || gatewayUrl === null) {
    const none = colors.dim("no dashboard (al start --web-ui serves it)");
    return [gatewayUrl === null ? none : `Gateway: ${colors.cyan(gatewayUrl)} · ${none}`];
  }
  const url = `Dashboard: ${colors.cyan(`${gatewayUrl}/dashboard`)}`;
  const key = `API key: ${plainLine(apiKeyPath)}`;
  const line = url + colors.dim(` · ${key}`);
  const link = loginUrl();
  return [
    ...(widthOf(line) <= columns ? [line] : [url, ...wrap(key, columns).map(colors.dim)]),
    ...(link === null ? [] : wrap(`Log in: ${link}`, columns).map(colors.cyan)),
  ];
}

const widestName = 28;

/** How many of these columns a name may take: the other columns need the most. */
function widthForName(room: number): number {
  return Math.min(widestName, Math.max(8, Math.floor(room / 4)));
}

/** A head and as many agents as fit, around the selected one. Only these are rendered. */
function tableLines(snapshot: StatusSnapshot, selected: AgentStatus, style: ScreenStyle): string[] {
  const { columns, rows, colors, now } = style;
  const { paused, draining } = snapshot.scheduler;
  const all = snapshot.agents;
  // The line that counts the others takes the place of an agent.
  const room = all.length > rows - 1 && rows > 3 ? rows - 2 : rows - 1;
  const first = windowStart(all.indexOf(selected), room, all.length);
  const shown = all.slice(first, first + room);
  const hidden = room < rows - 1 ? [colors.dim(`  … ${all.length - room} more`)] : [];
  const live = { selected, nameWidth: widthForName(columns) };
  const table = agentTable(
    shown,
    { now, paused, draining },
    { columns: columns - 2, colors, now },
    live,
  );
  const lines = table.split("\n").map((line, row) => {
    const mark = shown[row - 1] === selected ? colors.cyan("> ") : "  ";
    return cut(mark + line, columns);
  });
  return [...lines, ...hidden];
}

/** Index of the first visible row: the given one stays in the middle, except near the ends. */
export function windowStart(index: number, room: number, length: number): number {
  return Math.max(0, Math.min(length - room, index - Math.floor(room / 2)));
}

function noAgents({ snapshot }: ScreenFacts, { columns, colors }: ScreenStyle): string[] {
  if (snapshot.agents.length > 0) return ["", "No agent matches the filter.", ""];
  const text = `No agents yet. In another terminal, ${colors.bold("al agent new")} creates one; it appears here at once.`;
  return ["", ...wrap(text, columns), ""];
}

const shownErrorLines = 4;

/** A rule with the agent's name, then its error or status and its warnings in full. */
function detailOf(agent: AgentStatus, style: ScreenStyle): string[] {
  const { columns, colors, now } = style;
  const { name, usedBudget, warning, statusText } = agent;
  const wrapped = (text: string | null): string[] =>
    text === null ? [] : wrap(plainLine(text), columns).slice(0, shownErrorLines);
  const error = errorToShow(agent);
  // One line even without a status: the log below must not jump whenever a run begins and ends.
  const lines =
    error === null ? [cut(plainLine(statusText ?? ""), columns)] : wrapped(error).map(colors.red);
  const used = usedBudget && usedBudgetAdvice(usedBudget, now);
  const warned = [used, warning].flatMap(wrapped).map(colors.yellow);
  return [rule(plainLine(name), style), ...lines, ...warned];
}

/** A line across the screen with a title in it. */
function rule(title: string, { columns, colors }: ScreenStyle): string {
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

/** A question, the latest message, the runs that a stop waits for, or else the keys. */
function lastLine(facts: ScreenFacts, { columns, colors }: ScreenStyle): string {
  const { view, isStopping, snapshot } = facts;
  const line = () => {
    if (view.question !== null) return colors.yellow(questionText(view.question, snapshot));
    if (isStopping) return colors.yellow(stoppingText(snapshot));
    if (view.isFiltering) return `/${view.filter}_  ${colors.dim("enter: keep  esc: show all")}`;
    if (view.message === null) return filterNote(view, colors) + shortKeys(colors);
    const { text, isError } = view.message;
    return (isError ? colors.red : colors.green)(plainLine(text));
  };
  return cut(line(), columns);
}

function filterNote({ filter }: ViewState, { yellow, dim }: Colors): string {
  return filter === "" ? "" : `${yellow(`/${filter}`)} ${dim("(esc: show all)")}  `;
}

function questionText(
  question: NonNullable<ViewState["question"]>,
  { agents }: StatusSnapshot,
): string {
  if (question.command === "pause") return "Pause all schedules? Other work still runs. y/n";
  const { command, agent } = question;
  if (command === "run") return `Run ${agent}? y/n`;
  const running = agents.find(({ name }) => name === agent)?.running ?? 0;
  return `End ${running === 1 ? "the run" : `${running} runs`} of ${agent}? y/n`;
}

/** The key comes first, because the names may be many. */
function stoppingText({ scheduler, agents }: StatusSnapshot): string {
  if (scheduler.running === 0) return "Stopping …";
  const names = agents.filter(({ running }) => running > 0).map(({ name }) => name);
  const runs = counted(scheduler.running, "run");
  return `Stopping (Ctrl-C: now): waits for ${runs}: ${names.join(", ")}`;
}

/** The exit key comes first: a narrow terminal cuts the end. */
function shortKeys(colors: Colors): string {
  const keys = bindings.flatMap(({ keys: [key = ""], word }) => (word ? [{ key, word }] : []));
  return keys.map(({ key, word }) => `${colors.bold(key)} ${colors.dim(word)}`).join("  ");
}
