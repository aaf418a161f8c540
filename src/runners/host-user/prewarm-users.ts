import { distinctUntilChanged, map } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import { harnesses } from "../../../streams/harnesses.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";

export interface PrewarmDeps {
  /** The active config, at once and whenever it changes. */
  readonly project$: Observable<{ readonly local: { readonly warm: number } }>;
  /** Runs end, and none begins any more. */
  readonly stopping$: Observable<unknown>;
  /** As the status has them. */
  readonly agents: () => Iterable<AgentRecord>;
  /** Keeps this number of prewarmed processes for each of these OS users, and none for others. */
  readonly prewarm: (users: readonly string[], each: number) => void;
}

/** Keeps `[local].warm` processes prewarmed for each OS user of an enabled agent; events make it check again. */
export interface Prewarming {
  readonly onEvent: (event: RunEvent) => void;
  /** Begins to keep them, until the subscription ends or the scheduler stops. */
  readonly open: () => Subscription;
}

export function createPrewarming(deps: PrewarmDeps): Prewarming {
  let each = 0;
  let isAsked = false;
  const ask = () => {
    // A project starts with many changes at once: one check serves all of them.
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      deps.prewarm(usersOf(deps.agents()), each);
    });
  };
  return {
    onEvent: ({ type }) => {
      if (each > 0 && relevant.has(type)) ask();
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
const relevant: ReadonlySet<RunEvent["type"]> = new Set([
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
