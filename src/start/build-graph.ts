import {
  asyncScheduler,
  delay,
  distinctUntilChanged,
  from,
  map,
  merge,
  ReplaySubject,
  scan,
  share,
  takeUntil,
  tap,
  type Observable,
} from "rxjs";
import { agentChanges } from "../../streams/agents/agent-changes.ts";
import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import { runtime } from "../../streams/runtime.ts";
import type { Calendars } from "../../streams/triggers/calendar.ts";
import type { CheckedBefore } from "../../streams/triggers/triggers-for.ts";
import type { AgentChange, RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { readAgent, type AgentFiles } from "../foundation/config/agent-files.ts";
import { describeChange } from "../foundation/config/agent-view.ts";
import { resolveAgent } from "../foundation/config/resolve-agent.ts";
import { knownToAgents } from "../runtime/agents/project-files.ts";
import { createStoredWork } from "../foundation/scheduler/stored-work.ts";
import { tickKey, type Settings } from "../foundation/store/settings.ts";
import { v7 as uuidV7 } from "uuid";
import type { SchedulerContext } from "../foundation/context.ts";
import { newInstanceId } from "./runtimes.ts";
import type { Services } from "./services.ts";
import { claimsWithVersions } from "../runtime/runs/claims.ts";

interface GraphSources {
  /** The current files on disk. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  /** Names of agents whose files may have changed. */
  readonly touched$: Observable<string>;
  /** Called with each directory that was read again; `isAgent` if it has a `config.toml`. */
  readonly onRead: (name: string, isAgent: boolean) => void;
  readonly adopted: readonly AdoptedRun[];
  /** Work from before a restart, and deliveries that gather for a run. */
  readonly waiting: readonly ForAgent[];
}

type ForAgent = Pick<WorkItem, "agent">;

/** How long an open claim may take once the scheduler stops. */
const claimMs = 1000;

/** The graph of all agents of one scheduler. */
export function buildGraph(
  context: SchedulerContext,
  { runtimes, slots, starting, runs, budgets }: Services,
  sources: GraphSources,
): Observable<RunEvent> {
  const { inputs, store, switches, stopping, onDemand } = context;
  const claim = claimsWithVersions(context);
  return runtime(
    {
      ...inputs,
      adopted$: from(sources.adopted),
      agentChange$: agentChange$(context, sources),
      waitForMoney$: budgets.waiting$,
      calendars$: calendars(context.project$),
    },
    {
      runner: runtimes.runner,
      prepare: runtimes.prepare,
      clock: context.clock,
      slots,
      starting,
      owner: runs,
      // A claim that waits for the store must not delay the scheduler's stop.
      claim: (request) =>
        from(claim(request)).pipe(takeUntil(inputs.stopping$.pipe(delay(claimMs)))),
      isStopping: () => !onDemand && stopping.phase() === "draining",
      isEnabled: switches.isEnabled,
      overBudget: budgets.overBudget,
      lastChecked: lastCheckedIn(store.settings),
      storedWork: createStoredWork(context),
      describeChange,
      newInstanceId,
      newId: uuidV7,
      scheduler: asyncScheduler,
    },
  );
}

/** The project's calendars. An agent keeps a removed one until its own config is valid without. */
function calendars(project$: SchedulerContext["project$"]): Observable<Calendars> {
  return project$.pipe(
    map((project): Calendars => project.calendars),
    distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
    scan((known, now) => ({ ...known, ...now })),
    share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: false }),
  );
}

function agentChange$(
  { projectDir, onDemand, project$ }: SchedulerContext,
  { agents, waiting, touched$, onRead }: GraphSources,
): Observable<AgentChange> {
  const known = knownToAgents();
  return merge(
    from(missingAgents(waiting, agents)),
    agentChanges({
      initial: agents,
      touched$,
      project$,
      scheduler: asyncScheduler,
      read: (name) =>
        from(readAgent(projectDir, name)).pipe(tap((files) => onRead(name, files !== null))),
      resolve: (agent, project) => {
        const change = resolveAgent(agent, project, known);
        return onDemand ? withoutTriggers(change) : change;
      },
    }),
  );
}

/**
 * When an earlier scheduler last checked a schedule of an agent, and that schedule; undefined for one that it did not
 * have. The last heartbeat may be later than the agent's last tick.
 */
export function lastCheckedIn(settings: Pick<Settings, "lastAlive" | "lastTicks">): CheckedBefore {
  const lastAlive = settings.lastAlive() ?? 0;
  const lastTicks = settings.lastTicks();
  return (agent, name) => {
    const { at = 0, schedule = null } = lastTicks.get(tickKey(agent, name)) ?? {};
    return schedule === null ? undefined : { at: Math.max(at, lastAlive), schedule };
  };
}

/**
 * Agents with work from before a restart and no directory now. They start as removed, so that their work is held as
 * after a removal while the scheduler runs: a checkout may restore them.
 */
export function missingAgents(
  waiting: readonly ForAgent[],
  present: ReadonlyMap<string, unknown>,
): readonly AgentChange[] {
  const names = new Set(waiting.map(({ agent }) => agent));
  return [...names]
    .filter((name) => !present.has(name))
    .map((name): AgentChange => ({ type: "removed", name }));
}

/** The change without schedule and webhooks: the agent is callable only, by a person or another agent. */
function withoutTriggers(change: AgentChange): AgentChange {
  if (change.type !== "set") return change;
  const agent = { ...change.agent, schedule: null, schedules: [], webhooks: [], callable: true };
  return { ...change, agent };
}
