import { concat, defer, filter, from, Subject } from "rxjs";
import { logMatcher } from "../../src/foundation/logs/log-scan.ts";
import type {
  LogLine,
  LogPage,
  LogPageQuery,
  LogQuery,
} from "../../src/foundation/logs/log-query.ts";
import type { LogSource } from "../../src/foundation/logs/log-source.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";

/** A log source whose lines a test writes. */
export interface MemoryLogs extends LogSource {
  write(entry: Partial<LogEntry> & { readonly agent: string; readonly msg: string }): void;
}

/** Keeps its lines in memory; positions count lines instead of bytes. */
export function memoryLogs(): MemoryLogs {
  const lines: LogLine[] = [];
  const new$ = new Subject<LogLine>();
  const matches = (query: Pick<LogQuery, "agent" | "instanceId">, { entry }: LogLine): boolean =>
    (query.agent === null || entry.agent === query.agent) &&
    (query.instanceId === null || entry.instanceId === query.instanceId);
  const soFar = (query: LogQuery): readonly LogLine[] => {
    const matching = lines.filter((line) => matches(query, line));
    const index = matching.findIndex(({ id }) => id === query.after);
    if (index >= 0) return matching.slice(index + 1);
    return query.lines === 0 ? [] : matching.slice(-query.lines);
  };
  const before = (query: LogPageQuery, position: string | null): LogPage => {
    const all = lines.filter((line) => matches(query, line));
    const end = position === null ? all.length : all.findIndex(({ id }) => id === position) + 1;
    const part = all.slice(0, end);
    const found = part.filter(({ entry }) => logMatcher(query.filter).matches(entry));
    const shown = found.slice(-query.lines);
    const first = all.findIndex((line) => line === shown[0]);
    return {
      lines: shown,
      older: shown.length === found.length ? null : (all[first - 1]?.id ?? null),
      newer: part.at(-1)?.id ?? position,
      atEnd: position === null,
      reachedAt: (shown[0] ?? part[0])?.entry.time ?? null,
    };
  };
  const after = (query: LogPageQuery, position: string): LogPage => {
    const all = lines.filter((line) => matches(query, line));
    const part = all.slice(all.findIndex(({ id }) => id === position) + 1);
    const found = part.filter(({ entry }) => logMatcher(query.filter).matches(entry));
    const shown = found.slice(0, query.lines);
    const atEnd = shown.length === found.length;
    const newer = (atEnd ? part : shown).at(-1)?.id ?? position;
    return { lines: shown, older: position, newer, atEnd, reachedAt: null };
  };
  return {
    page: (query) =>
      Promise.resolve(
        "after" in query.from ? after(query, query.from.after) : before(query, query.from.before),
      ),
    write(entry) {
      const line: LogLine = {
        id: `${entry.agent}-2026-11-21.log:${lines.length + 1}`,
        entry: { level: 30, time: Date.now(), ...entry },
      };
      lines.push(line);
      new$.next(line);
    },
    read: (query) => Promise.resolve(soFar(query)),
    follow: (query) =>
      concat(
        defer(() => from(soFar(query))),
        new$.pipe(filter((line) => matches(query, line))),
      ),
  };
}
