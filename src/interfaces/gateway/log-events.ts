import {
  auditTime,
  buffer,
  concat,
  concatMap,
  connect,
  defer,
  filter,
  map,
  merge,
  of,
  skipUntil,
} from "rxjs";
import type { Observable } from "rxjs";
import type { AgentStatus, StatusUpdate } from "../../../streams/status/wire.ts";
import type { LogFilter, LogLine, LogPage, LogQuery } from "../../foundation/logs/log-query.ts";
import { logMatcher } from "../../foundation/logs/log-scan.ts";
import type { LogSource } from "../../foundation/logs/log-source.ts";
import type { Operations } from "../operations/operations.ts";
import { eventText } from "./sse.ts";

/** The query of one agent's lines. */
type AgentQuery = LogQuery & { readonly agent: string };

/** An agent's lines so far in one text, however many they are, then the new ones of each turn; those that pass the filter. */
export function agentLogEvents(
  logs: LogSource,
  query: AgentQuery,
  wanted: LogFilter,
): Observable<string> {
  const { matches } = logMatcher(wanted);
  return defer(() => beginning(logs, query, wanted)).pipe(
    concatMap(({ lines, newer }) => {
      // An empty log has no position to resume from; the same query again can't miss its first line.
      const rest = newer === null ? query : { ...query, lines: 0, after: newer };
      const line$ = logs.follow(rest).pipe(filter(({ entry }) => matches(entry)));
      const first = lines.filter(({ entry }) => matches(entry));
      return concat(of(first.map(lineText).join("")), textsPerTurn(line$));
    }),
  );
}

/** The lines that a stream begins with, and the position after them. */
async function beginning(
  logs: LogSource,
  query: AgentQuery,
  wanted: LogFilter,
): Promise<Pick<LogPage, "lines" | "newer">> {
  const { agent, instanceId, lines, after } = query;
  if (after === null && lines > 0) {
    return logs.page({ agent, instanceId, filter: wanted, lines, from: { before: null } });
  }
  const found = await logs.read(query);
  return { lines: found, newer: found.at(-1)?.id ?? null };
}

/** The events of lines, those of one turn in one text. */
export function textsPerTurn(line$: Observable<LogLine>): Observable<string> {
  return line$.pipe(
    map(lineText),
    connect((text$) => text$.pipe(buffer(text$.pipe(auditTime(0))))),
    map((texts) => texts.join("")),
  );
}

function lineText({ id, entry }: LogLine): string {
  return eventText("log", id, JSON.stringify(entry));
}

/** Adds the agent's status to the first text of its log, then emits its changes; null once the agent is removed. */
export function withStatus(
  log$: Observable<string>,
  name: string,
  { snapshot, update$ }: Operations,
): Observable<string> {
  const now = (): AgentStatus | null => agentIn(snapshot().agents, name);
  const change$ = update$.pipe(
    filter((update) => isOf(update, name)),
    map(({ agents = [] }) => statusText(agentIn(agents, name))),
  );
  return log$.pipe(
    connect((text$) => {
      const first$ = text$.pipe(
        map((text, index) => (index === 0 ? text + statusText(now()) : text)),
      );
      // Before the first text, changes need no event: the text carries the latest status.
      return merge(first$, change$.pipe(skipUntil(text$)));
    }),
  );
}

function isOf({ agents = [], removed = [] }: StatusUpdate, name: string): boolean {
  return removed.includes(name) || agents.some((agent) => agent.name === name);
}

function agentIn(agents: readonly AgentStatus[], name: string): AgentStatus | null {
  return agents.find((agent) => agent.name === name) ?? null;
}

/** Without an id: the last one that a client has stays that of a line. */
function statusText(agent: AgentStatus | null): string {
  return `event: agent\ndata: ${JSON.stringify(agent)}\n\n`;
}
