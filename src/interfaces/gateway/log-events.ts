import { auditTime, buffer, connect, filter, map, type Observable } from "rxjs";
import type { LogFilter, LogLine, LogPage, LogQuery } from "../../foundation/logs/log-query.ts";
import { logMatcher } from "../../foundation/logs/log-scan.ts";
import type { LogSource } from "../../foundation/logs/log-source.ts";
import { eventText } from "./sse.ts";

/** The query of one agent's lines. */
type AgentQuery = LogQuery & { readonly agent: string };

/**
 * An agent's lines that pass a filter: those so far in one text, however many they are, and then the new ones of each turn.
 * Each line is sent as one `event`.
 */
export async function agentLogEvents(
  logs: LogSource,
  query: AgentQuery,
  wanted: LogFilter,
  event = "log",
): Promise<{ readonly first: string; readonly more$: Observable<string> }> {
  const { matches } = logMatcher(wanted);
  const { lines, newer } = await beginning(logs, query, wanted);
  // An empty log has no position to resume from; the same query again can't miss its first line.
  const rest = newer === null ? query : { ...query, lines: 0, after: newer };
  const line$ = logs.follow(rest).pipe(filter(({ entry }) => matches(entry)));
  const first = lines.filter(({ entry }) => matches(entry));
  return {
    first: first.map((line) => lineText(line, event)).join(""),
    more$: textsPerTurn(line$, event),
  };
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
export function textsPerTurn(line$: Observable<LogLine>, event = "log"): Observable<string> {
  return line$.pipe(
    map((line) => lineText(line, event)),
    connect((text$) => text$.pipe(buffer(text$.pipe(auditTime(0))))),
    map((texts) => texts.join("")),
  );
}

function lineText({ id, entry }: LogLine, event: string): string {
  return eventText(event, id, JSON.stringify(entry));
}
