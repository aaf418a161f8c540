import { renameSync, rmSync } from "node:fs";
import type { LogLine, LogQuery } from "../../../src/foundation/logs/log-query.ts";
import type { LogSource, LogSourceOptions } from "../../../src/foundation/logs/log-source.ts";
import { createLogSource } from "../../../src/foundation/logs/log-source.ts";
import { entry, noon } from "./support.ts";

const devQuery: LogQuery = { agent: "dev", instanceId: null, lines: 100, after: null };

export function sourceOf(project: string, options: LogSourceOptions = {}): LogSource {
  return createLogSource(project, { now: () => noon, checkEveryMs: 20, ...options });
}

/** No check of the files ever comes: all lines come from the writer. */
export const unchecked = { checkEveryMs: 1_000_000_000 };

/** Follows until the test is over; what came is in `lines`. */
export function follow(source: LogSource, query: Partial<LogQuery> = {}) {
  const lines: LogLine[] = [];
  const errors: unknown[] = [];
  const subscription = source
    .follow({ ...devQuery, ...query })
    .subscribe({ next: (line) => lines.push(line), error: (error) => errors.push(error) });
  onTestFinished(() => {
    subscription.unsubscribe();
    expect(errors).toEqual([]);
  });
  const messages = (): string[] => lines.map((line) => line.entry.msg);
  return { lines, messages, stop: () => subscription.unsubscribe() };
}

/** How another program takes a log file away. */
export const losses = [
  ["deleted", (path: string) => rmSync(path)],
  ["moved away", (path: string) => renameSync(path, `${path}.1`)],
] as const;

export const line = (msg: string, more = {}): string => `${JSON.stringify(entry(msg, more))}\n`;
export const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `${from + i}`);
