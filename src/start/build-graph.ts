import { asyncScheduler, delay, from, merge, takeUntil, tap } from "rxjs";
import type { Observable } from "rxjs";
import { agentChanges } from "../../streams/agents/agent-changes.ts";
import type { Clock } from "../../streams/clock.ts";
import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { Slots } from "../../streams/runs/slots.ts";
import type { RunOwner } from "../../streams/runs/suspension.ts";
import { runtime } from "../../streams/runtime.ts";
import type { RuntimeSources } from "../../streams/runtime.ts";
import type { LastChecked } from "../../streams/triggers/triggers-for.ts";
import type { AgentChange, RunEvent, RunRequest, WorkItem } from "../../streams/vocabulary.ts";
import { readAgent } from "../foundation/config/agent-files.ts";
import type { AgentFiles } from "../foundation/config/agent-files.ts";
import { describeChange } from "../foundation/config/describe-change.ts";
import { schemaChecker } from "../foundation/config/schema-files.ts";
import { resolveAgent } from "../foundation/config/resolve-agent.ts";
import { knownToAgents } from "../interfaces/operations/known-to-agents.ts";
import type { Settings } from "../foundation/store/settings.ts";
import type { Store } from "../foundation/store/store.ts";
import { v7 as uuidV7 } from "uuid";
import type { BudgetHolds } from "../features/spend/budget-holds.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import { newInstanceId } from "./runtimes.ts";
import type { Runtimes } from "./runtimes.ts";
import type { Stopping } from "../runtime/scheduler/stopping.ts";
import type { Switches } from "../runtime/scheduler/switches.ts";

/** The sources of the graph, and its side effects. */
export interface GraphDeps extends Pick<Runtimes, "runner" | "prepare"> {
  readonly projectDir: string;
  /** No schedules and no webhooks. */
  readonly onDemand: boolean;
  readonly inputs: Inputs;
  readonly store: Pick<Store, "settings">;
  /** Records which instance runs an item, and what it runs. */
  readonly claim: (request: RunRequest) => Promise<void>;
  /** As they are on disk now. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  /** Names of agents whose files may have changed. */
  readonly touched$: Observable<string>;
  /** Called with each directory that was read again; `isAgent` when it has a `config.toml`. */
  readonly onRead: (name: string, isAgent: boolean) => void;
  readonly adopted: readonly AdoptedRun[];
  /** Work from before a restart. */
  readonly waiting: readonly WorkItem[];
  readonly clock: Clock;
  readonly slots: Slots;
  readonly starting: Slots;
  readonly runs: RunOwner;
  readonly switches: Pick<Switches, "isEnabled">;
  readonly budgets: BudgetHolds;
  readonly stopping: Pick<Stopping, "phase">;
}

/** How long an open claim may take once the scheduler stops. */
const claimMs = 1000;

/** The graph of all agents of one scheduler. */
export function buildGraph(deps: GraphDeps): Observable<RunEvent> {
  const { inputs, store, switches, stopping } = deps;
  const sources: RuntimeSources = {
    adopted$: from(deps.adopted),
    agentChange$: agentChange$(deps),
    webhook$: inputs.webhook$,
    call$: inputs.call$,
    manual$: inputs.manual$,
    enabled$: inputs.enabled$,
    paused$: inputs.paused$,
    kill$: inputs.kill$,
    withdraw$: inputs.withdraw$,
    waitForMoney$: deps.budgets.waiting$,
    stopping$: inputs.stopping$,
  };
  return runtime(sources, {
    runner: deps.runner,
    prepare: deps.prepare,
    clock: deps.clock,
    slots: deps.slots,
    starting: deps.starting,
    owner: deps.runs,
    // A claim that waits for the store must not hold up the end.
    claim: (request) =>
      from(deps.claim(request)).pipe(takeUntil(inputs.stopping$.pipe(delay(claimMs)))),
    checkValue: ({ file, text }, value) => from(mismatchText(file, text, value)),
    isStopping: () => !deps.onDemand && stopping.phase() === "draining",
    isEnabled: (agent) => switches.isEnabled(agent),
    overBudget: (agent) => deps.budgets.overBudget(agent),
    lastChecked: lastCheckedIn(store.settings),
    describeChange,
    newInstanceId,
    newId: uuidV7,
    scheduler: asyncScheduler,
  });
}

/** `the returned value does not meet out.schema.json: /id must be string`. */
async function mismatchText(file: string, schema: string, value: unknown): Promise<string | null> {
  const reason = await schemaChecker.mismatch(schema, value);
  return reason && `the returned value does not meet ${file}: ${reason}`;
}

function agentChange$(deps: GraphDeps): Observable<AgentChange> {
  const { projectDir, onDemand, inputs, agents, waiting, touched$, onRead } = deps;
  const known = knownToAgents();
  return merge(
    from(missingAgents(waiting, agents)),
    agentChanges({
      initial: agents,
      touched$,
      project$: inputs.project$,
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
 * When an earlier scheduler last checked an agent's schedule, and which schedule that was; undefined for an agent
 * that it did not have, or without a schedule. The last heartbeat may be later than the agent's last tick.
 */
export function lastCheckedIn(
  settings: Pick<Settings, "lastAlive" | "lastTicks">,
): (agent: string) => LastChecked | undefined {
  const lastAlive = settings.lastAlive() ?? 0;
  const lastTicks = settings.lastTicks();
  return (agent) => {
    const { at = 0, schedule = null } = lastTicks.get(agent) ?? {};
    return schedule === null ? undefined : { at: Math.max(at, lastAlive), schedule };
  };
}

/**
 * Agents with work from before a restart and no directory now. They start as removed, so that their work is held as
 * after a removal while the scheduler runs: a checkout may bring them back.
 */
export function missingAgents(
  waiting: readonly WorkItem[],
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
  const agent = { ...change.agent, schedule: null, webhooks: [], callable: true };
  return { ...change, agent };
}
