import { concat, defer, filter, from, Subject } from "rxjs";
import type { LogLine, LogQuery, LogSource } from "../../src/contracts/log-source.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";

/** A log source whose lines a test writes. */
export interface MemoryLogs extends LogSource {
  write(entry: Partial<LogEntry> & { readonly agent: string; readonly msg: string }): void;
}

/** Keeps its lines in memory; positions count lines instead of bytes. */
export function memoryLogs(): MemoryLogs {
  const lines: LogLine[] = [];
  const new$ = new Subject<LogLine>();
  const matches = (query: LogQuery, { entry }: LogLine): boolean =>
    (query.agent === null || entry.agent === query.agent) &&
    (query.instanceId === null || entry.instanceId === query.instanceId);
  const soFar = (query: LogQuery): readonly LogLine[] => {
    const matching = lines.filter((line) => matches(query, line));
    const index = matching.findIndex(({ id }) => id === query.after);
    if (index >= 0) return matching.slice(index + 1);
    return query.lines === 0 ? [] : matching.slice(-query.lines);
  };
  return {
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
