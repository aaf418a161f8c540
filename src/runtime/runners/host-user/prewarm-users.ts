import type { Observable, Subscription } from "rxjs";
import { harnesses } from "../../../../streams/harnesses.ts";
import { networkOf } from "../../../../streams/run-network.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import type { AgentRecord } from "../../../../streams/status/agent-record.ts";
import type { RunEvent } from "../../../../streams/vocabulary.ts";
import type { WorkerKind } from "./prewarmed-worker.ts";

export interface PrewarmDeps {
  /** The active config, at once and whenever it changes. */
  readonly project$: Observable<PrewarmConfig>;
  /** Runs end, and none begins any more. */
  readonly stopping$: Observable<unknown>;
  /** As the status has them. */
  readonly agents: () => Iterable<AgentRecord>;
  /** Keeps this number of prewarmed processes of each of these kinds, and none of others. */
  readonly prewarm: (kinds: readonly WorkerKind[], each: number) => void;
}

/** What it needs of the project's config. */
type PrewarmConfig = Parameters<typeof networkOf>[1] & {
  readonly local: { readonly warm: number };
};

/** Keeps `[local].warm` processes prewarmed for each kind of run of an enabled agent; events make it check again. */
export interface Prewarming {
  readonly onEvent: (event: RunEvent) => void;
  /** Begins to keep them, until the subscription ends or the scheduler stops. */
  readonly open: () => Subscription;
}

export function createPrewarming(deps: PrewarmDeps): Prewarming {
  let each = 0;
  let project: PrewarmConfig | null = null;
  let isAsked = false;
  const ask = () => {
    // A project starts with many changes at once: one check serves all of them.
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      deps.prewarm(project === null ? [] : kindsOf(deps.agents(), project), each);
    });
  };
  return {
    onEvent: ({ type }) => {
      if (each > 0 && relevant.has(type)) ask();
    },
    open: () => {
      const subscription = deps.project$.subscribe((config) => {
        project = config;
        const { warm } = config.local;
        if (warm === 0 && each === 0) return;
        each = warm;
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

/** The runs of agents whose harness and runtime can be started before there is a run. */
function kindsOf(agents: Iterable<AgentRecord>, project: PrewarmConfig): readonly WorkerKind[] {
  const kinds: WorkerKind[] = [];
  for (const { config, enabled, removed } of agents) {
    if (config === null || !enabled || removed || config.scale === 0) continue;
    const { harness, runtime } = config;
    if (!harnesses[harness.type].canPrewarm || !runtimes[runtime.type].canPrewarm) continue;
    kinds.push({ user: runtime.runAs, network: networkOf(config, project) });
  }
  return kinds;
}
