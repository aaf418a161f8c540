import { distinctUntilChanged, map } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import { harnesses } from "../../streams/harnesses.ts";
import { runtimes } from "../../streams/runtimes.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";

export interface WarmRunnersDeps {
  /** The config in force, at once and whenever it changes. */
  readonly project$: Observable<ProjectConfig>;
  /** Runs end, and none begins any more. */
  readonly stopping$: Observable<unknown>;
  /** As the status board has them. */
  readonly agents: () => Iterable<AgentRecord>;
  /** Keeps so many processes started ahead for each of these OS users, and none for others. */
  readonly keepWarm: (users: readonly string[], each: number) => void;
}

/** Keeps `[local].warm` processes ready for each OS user that agents run as; events tell it to look again. */
export interface WarmRunners {
  readonly see: (event: RunEvent) => void;
  /** Begins to keep them, until the subscription ends or the scheduler stops. */
  readonly open: () => Subscription;
}

export function createWarmRunners(deps: WarmRunnersDeps): WarmRunners {
  let each = 0;
  let isAsked = false;
  const ask = () => {
    // A project starts with many changes at once. Without warm runners they are none.
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      deps.keepWarm(usersOf(deps.agents()), each);
    });
  };
  return {
    see: ({ type }) => {
      if (each > 0 && telling.has(type)) ask();
    },
    open: () => {
      const wanted = deps.project$.pipe(
        map(({ local }) => local.warm),
        distinctUntilChanged(),
      );
      const subscription = wanted.subscribe((count) => {
        if (count === 0 && each === 0) return;
        each = count;
        ask();
      });
      subscription.add(
        deps.stopping$.subscribe(() => {
          subscription.unsubscribe();
        }),
      );
      subscription.add(() => {
        each = 0;
        ask();
      });
      return subscription;
    },
  };
}

/** The events after which other users may be wanted. */
const telling: ReadonlySet<RunEvent["type"]> = new Set([
  "agent-set",
  "agent-enabled",
  "agent-removed",
]);

/** The OS users of agents whose harness and runtime can be started before there is a run. */
function usersOf(agents: Iterable<AgentRecord>): readonly string[] {
  const users = new Set<string>();
  for (const { config, enabled, removed } of agents) {
    if (config === null || !enabled || removed || config.scale === 0) continue;
    const { harness, runtime } = config;
    if (!harnesses[harness.type].canPrewarm || !runtimes[runtime.type].canPrewarm) continue;
    users.add(runtime.runAs);
  }
  return [...users];
}
