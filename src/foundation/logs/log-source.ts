import type { LogLine, LogPage, LogPageQuery, LogQuery } from "./log-query.ts";
import { defer, filter, finalize, interval, NEVER, share, type Observable } from "rxjs";
import { fileChecks, firstOpenDate, type FileCheck } from "./file-checks.ts";
import { logsDir } from "./log-files.ts";
import { followLog } from "./log-follow.ts";
import { readLogPage } from "./log-page.ts";
import { agentOf, readLog } from "./log-reader.ts";
import type { AppendedLines } from "./log-writer.ts";
import { createSharedReader } from "./read-lines.ts";

/** Sources of new lines, and how often they are checked. */
export interface LogSourceOptions {
  /** Lines as this process appends them. */
  readonly appended$?: Observable<AppendedLines>;
  /** Epoch ms. */
  readonly now?: () => number;
  /** How often the followed files are checked for lines of other processes and for rotation, in ms. */
  readonly checkEveryMs?: number;
}

/** Reads and follows the logs of a project. All followers of an agent share one check and one read of its files. */
export function createLogSource(projectDir: string, options: LogSourceOptions = {}) {
  const { appended$ = NEVER, now = Date.now, checkEveryMs = 250 } = options;
  const dir = logsDir(projectDir);
  const tick$ = interval(checkEveryMs).pipe(share());
  const read = createSharedReader();
  const checks = new Map<string | null, Observable<FileCheck>>();

  const checksOf = (agent: string | null): Observable<FileCheck> => {
    const known = checks.get(agent);
    if (known) return known;
    const forget = finalize<FileCheck>(() => checks.delete(agent));
    const check$ = fileChecks(agent, { dir, tick$, now }).pipe(forget, share());
    checks.set(agent, check$);
    return check$;
  };

  return {
    /** The lines so far, oldest first. */
    read: (query: LogQuery): Promise<readonly LogLine[]> => readLog(dir, query),
    /** A part of one agent's log, filtered; one call reads a bounded amount. */
    page: (query: LogPageQuery): Promise<LogPage> => readLogPage(dir, query),
    /** The lines so far, then each new line within 500 ms, across the change of file at midnight. Cold. */
    follow: (query: LogQuery): Observable<LogLine> => {
      const agent = query.agent ?? agentOf(query.instanceId);
      return followLog(query, {
        dir,
        agent,
        read,
        appended$: appended$.pipe(filter(({ file }) => agent === null || file.agent === agent)),
        check$: defer(() => checksOf(agent)),
        firstDate: () => firstOpenDate(now()),
      });
    },
  };
}

export type LogSource = ReturnType<typeof createLogSource>;

export interface ReadLog {
  readonly read: LogSource["read"];
}
