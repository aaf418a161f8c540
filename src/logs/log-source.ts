import { defer, finalize, merge, mergeMap, share } from "rxjs";
import type { Observable } from "rxjs";
import type { LogSource } from "../contracts/log-source.ts";
import { directoryTicks } from "./directory-ticks.ts";
import { followLog } from "./log-follow.ts";
import { logsDir, utcDate } from "./log-files.ts";
import { agentOf, readLog } from "./log-reader.ts";
import { loggingAgents } from "./logging-agents.ts";
import { currentFiles, tailAgent } from "./tail-agent.ts";
import type { TailEvent } from "./file-tail.ts";

/** The clock and the pace of a log source. */
export interface LogSourceOptions {
  /** Epoch ms. */
  readonly now?: () => number;
  /** How often files are checked although the system told of no change, in ms. */
  readonly checkEveryMs?: number;
}

const dayMs = 86_400_000;

/** Reads and follows the logs of a project. However many follow an agent, its files are tailed once. */
export function createLogSource(projectDir: string, options: LogSourceOptions = {}): LogSource {
  const { now = Date.now, checkEveryMs = 500 } = options;
  const dir = logsDir(projectDir);
  const tick$ = directoryTicks(dir, checkEveryMs).pipe(share());
  const shared = new Map<string, Observable<TailEvent>>();

  const sharedTail = (agent: string): Observable<TailEvent> => {
    const known = shared.get(agent);
    if (known) return known;
    const forget = finalize<TailEvent>(() => shared.delete(agent));
    const tail$ = tailAgent(agent, { dir, tick$, now }).pipe(forget, share());
    shared.set(agent, tail$);
    return tail$;
  };

  /** Tails first, then says that there may be something to read already: a tail tells only what comes after it. */
  const liveOf = (agent: string): Observable<TailEvent> =>
    merge(
      defer(() => sharedTail(agent)),
      currentFiles(agent, now()).map((file): TailEvent => ({ type: "grown", file })),
    );

  return {
    read: (query) => readLog(dir, query),
    follow: (query) => {
      const agent = query.agent ?? agentOf(query.instanceId);
      const live$ =
        agent === null
          ? loggingAgents(dir, tick$).pipe(mergeMap(liveOf))
          : defer(() => liveOf(agent));
      return followLog(query, { dir, live$, agent, firstDate: () => utcDate(now() - dayMs) });
    },
  };
}
