import { mkdirSync, writeFileSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { createLogWriter } from "../../../src/foundation/logs/log-writer.ts";
import type { LogWriter, LogWriterOptions } from "../../../src/foundation/logs/log-writer.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A project directory that is removed when the test is over. */
export const tempProject = tempDir;

/** 2026-11-21, noon UTC. */
export const noon = Date.UTC(2026, 10, 21, 12);
export const dayMs = 86_400_000;

export function entry(msg: string, more: Partial<LogEntry> = {}): LogEntry {
  return { level: 30, time: noon, agent: "dev", msg, ...more };
}

export function tempWriter(
  project: string,
  options: Partial<LogWriterOptions> = {},
): LogWriter & { readonly problems: string[] } {
  const problems: string[] = [];
  const writer = createLogWriter(project, {
    now: () => noon,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  onTestFinished(() => writer.close());
  return { ...writer, problems };
}

/** The path of a log file of today, or of the given date. */
export function logPath(project: string, agent = "dev", date = "2026-11-21"): string {
  return join(project, ".al", "logs", `${agent}-${date}.log`);
}

/** Writes lines by hand, as another process would. */
export function writeLines(path: string, entries: readonly (LogEntry | string)[]): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "", { flag: "a" });
  for (const one of entries)
    appendFileSync(path, typeof one === "string" ? one : `${JSON.stringify(one)}\n`);
}
