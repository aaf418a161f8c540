import { distinctUntilChanged, map } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import type { AgentConfig, RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";

export interface WarmRunnersDeps {
  /** The config in force, at once and whenever it changes. */
  readonly project$: Observable<ProjectConfig>;
  /** Runs end, and none begins any more. */
  readonly stopping$: Observable<unknown>;
  readonly isEnabled: (agent: string) => boolean;
  /** Keeps so many processes started ahead for each of these OS users, and none for others. */
  readonly keepWarm: (users: readonly string[], each: number) => void;
}

/** Reads events to know which OS users agents run as, and keeps `[local].warm` processes ready for each of them. */
export interface WarmRunners {
  readonly see: (event: RunEvent) => void;
  /** Begins to keep them, until the subscription ends or the scheduler stops. */
  readonly open: () => Subscription;
}

export function createWarmRunners(deps: WarmRunnersDeps): WarmRunners {
  const agents = new Map<string, { readonly config: AgentConfig | null; enabled: boolean }>();
  let each = 0;
  let isAsked = false;
  const ask = () => {
    // A project starts with many changes at once. Without warm runners they are none.
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      deps.keepWarm(usersOf(agents.values()), each);
    });
  };
  return {
    see: (event) => {
      const { agent } = event;
      const known = agents.get(agent) ?? { config: null, enabled: deps.isEnabled(agent) };
      if (event.type === "agent-set") agents.set(agent, { ...known, config: event.config });
      else if (event.type === "agent-enabled")
        agents.set(agent, { ...known, enabled: event.enabled });
      else if (event.type === "agent-removed") agents.delete(agent);
      else return;
      if (each > 0) ask();
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

/** Only pi is worth to be loaded ahead: an external CLI is a process of its own. */
function usersOf(
  agents: Iterable<{ readonly config: AgentConfig | null; readonly enabled: boolean }>,
): readonly string[] {
  const users = new Set<string>();
  for (const { config, enabled } of agents) {
    if (config === null || !enabled || config.scale === 0 || config.harness.type !== "pi") continue;
    if (config.runtime.type === "host-user") users.add(config.runtime.runAs);
  }
  return [...users];
}
