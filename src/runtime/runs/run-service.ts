import type { SpendMeter } from "../../features/spend/meter.ts";
import { createRefusedDeliveries } from "../../features/webhooks/refused-deliveries.ts";
import type { AgentDetail } from "../../foundation/contracts/operator-api.ts";
import type { HistoryQuery, LatestRuns } from "../../foundation/contracts/history.ts";
import type {
  RefusedDeliveriesQuery,
  WhyNotQuery,
} from "../../features/webhooks/delivery-report.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Webhooks } from "../../features/webhooks/webhooks.ts";
import { Problem } from "../../foundation/errors.ts";
import type { OverBudget } from "../../../streams/agent-graph.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { nextTick } from "../../../streams/triggers/next-tick.ts";
import type { AlertOperationsDeps } from "../../features/alerts/alerts.ts";
import { v7 as uuidV7 } from "uuid";
import { viewReceipt } from "../../features/webhooks/receipt-view.ts";
import type { FirstEvents } from "./first-events.ts";
import type { LiveRuns } from "./live-runs.ts";
import { heldLocks } from "./lock-view.ts";
import { createAgentCounts } from "./agent-counts.ts";
import { replay, replayTrigger, startWork } from "./replay.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import { mustBeStartable, refusalOf } from "./runnable.ts";
import type { Inbox } from "../../features/people/inbox.ts";
import type { RunSessions } from "../../features/people/run-sessions.ts";
import { whyNoInput } from "./harness-command.ts";
import { createStartOnce, type StartedOnce } from "./start-once.ts";
import { createSteerOperations, type StartedManual } from "./steer.ts";
import { whyNot, whyNotNow } from "./why-not.ts";
import { agentFailing, viewRun, compareRuns, type ViewRunDeps } from "./view-run.ts";

interface RunServicePorts {
  readonly firstEvents: FirstEvents;
  readonly runs: Pick<LiveRuns, "find">;
  readonly logs: ViewRunDeps["logs"];
  readonly meter: Pick<SpendMeter, "limits" | "raise">;
  readonly overBudget: (agent: string) => OverBudget | null;
  readonly readAgain: Webhooks["readAgain"];
  readonly alerts: AlertOperationsDeps;
  readonly inbox: Inbox;
  readonly sessions: RunSessions;
}

/** The service behind operations on runs and agents: it writes to the streams' inputs, and reads status and store. */
export function createRunService(context: SchedulerContext, ports: RunServicePorts) {
  const { status, stopping, switches, store, redactor, inputs, project$ } = context;
  const { redact } = redactor;
  const { runs } = ports;
  const all = { ...context, ...ports };
  const refused = store.tables(createRefusedDeliveries);
  const startOnce = createStartOnce(store, (agent, trigger, id) =>
    startManual(all, agent, trigger, id),
  );
  return {
    /** The same object until a change. */
    snapshot: () => status.snapshot(),
    countsOf: createAgentCounts({ status, alerts: ports.alerts }),
    /** Hot, at most one every 100 ms. */
    update$: status.update$,
    /** Whether the snapshot has an agent of this name. */
    hasAgent: (name: string) => status.agent(name) !== undefined,
    /** Throws Problem `unknown_agent`. */
    agent: (name: string): AgentDetail => {
      const { config } = knownAgent(status, name);
      if (config === null) return { config, nextTicks: [] };
      return { config: maskSecrets(config, redactor), nextTicks: nextTicks(config, Date.now()) };
    },
    phase: () => stopping.phase(),
    /** Why no work can be stored now, for a person; null if it can. */
    storeProblem: () => {
      const problem = store.problem();
      // Writes, so that the next request knows whether the problem is over.
      if (problem !== null && stopping.phase() === "running") {
        void store.settings.recordAlive(Date.now()).catch(() => undefined);
      }
      return problem;
    },
    /** Pauses all schedules, with `work` all new work; false ends either pause. */
    setPaused: (paused: boolean, work?: boolean) => switches.setPaused(paused, work),
    setEnabled: async (name: string, enabled: boolean) => {
      const { config } = knownAgent(status, name);
      if (enabled && config?.scale === 0) {
        const message = `agent "${name}" has scale = 0 in its config.toml; set scale there to enable it`;
        throw new Problem("disabled", message);
      }
      await switches.setEnabled(name, enabled);
    },
    /** Commits the trigger, once for each key; resolves with whether it runs or waits. Rejects with `conflict`, too. */
    trigger: (
      name: string,
      prompt: string | null,
      key: string | null = null,
    ): Promise<StartedOnce> => {
      const trigger = { kind: "manual", prompt } as const;
      return key === null ? startManual(all, name, trigger) : startOnce(name, trigger, key);
    },
    /** How many runs are live. */
    running: () => status.running(),
    /** Ends all live runs; returns how many it asked to end. */
    killAll: () => {
      const running = status.running();
      inputs.kill$.next({ everything: "killed" });
      return Promise.resolve(running);
    },
    /** Ends all live runs of the agent; returns how many it asked to end. */
    killAgent: (name: string) => {
      const { running } = knownAgent(status, name);
      inputs.kill$.next({ agent: name });
      return Promise.resolve(running);
    },
    killInstance: (instanceId: string) => {
      if (runs.find(instanceId) === undefined) {
        const message = `no run "${instanceId}" is running`;
        return Promise.reject(new Problem("unknown_instance", message));
      }
      inputs.kill$.next({ instanceId });
      return Promise.resolve();
    },
    /** Lets running runs finish within their grace period; `now` ends them. */
    stop: (now: boolean) => (now ? stopping.stopNow("al stop --now") : stopping.stop("al stop")),
    history: (query: HistoryQuery) => store.history.query(query),
    /** How long an agent has been failing; null if it is not. */
    failing: (name: string) => agentFailing(name, store),
    /** The latest runs of these agents that ended. */
    latestRuns: (names: readonly string[]): LatestRuns => ({
      agents: store.history.latestRuns(names),
    }),
    /** Deliveries that were refused, the latest first. */
    refusedDeliveries: async (query: RefusedDeliveriesQuery) => {
      await refused.flush();
      return refused.query(query);
    },
    /** Why an agent did not run. Rejects with Problem `unknown_agent`. */
    whyNot: async (name: string, query: WhyNotQuery) => {
      const record = knownAgent(status, name);
      await refused.flush();
      const { scheduler, locks } = status.snapshot();
      const { paused, pausedWork, running } = scheduler;
      const { scale } = project$.value;
      const held = pausedWork ? store.waitingWork.count(name) : null;
      const now = whyNotNow(record, { paused, held, running, scale, locks });
      return whyNot(record, now, query, context);
    },
    /** The calls around an entry of the history, its secrets redacted. Throws Problem `unknown_trigger`. */
    callTree: (id: string) => {
      const tree = store.history.callTree(id);
      if (tree === undefined) {
        throw new Problem("unknown_trigger", `there is no trigger "${id}" in the history`);
      }
      const { redactValue } = redactor;
      const context = tree.context === null ? null : redact(tree.context);
      return { ...tree, context, value: redactValue(tree.value) };
    },
    /** A run with its version, result and calls, its secrets redacted. Rejects with Problem `unknown_instance`. */
    run: async (instanceId: string, withPrompt = false) => {
      const live = runs.find(instanceId)?.request.agent;
      const view = await viewRun(instanceId, all, withPrompt);
      return live === undefined ? view : { ...view, noInput: whyNoInput(live) };
    },
    /**
     * Compares the versions of two runs; without `other`, with the agent's last successful run before it. Rejects with
     * Problem `unknown_instance` or `unknown_version`.
     */
    runDifference: (instanceId: string, other: string | null) =>
      compareRuns(instanceId, other, context),
    /** A stored delivery with its secrets redacted. Throws Problem `unknown_receipt`. */
    receipt: (id: string) =>
      viewReceipt(id, { receipt: (key) => store.receipts.get(key), redactor }),
    /**
     * Runs a stored delivery again: for all agents whose filters match it now, or for one agent regardless of its
     * filters. Each gets new work, which is committed first.
     */
    replay: (id: string, agent: string | null) => replay(id, agent, all),
    /**
     * Runs the work of a history entry of any kind again, as new work that is committed first. Throws
     * Problem `unknown_trigger`.
     */
    replayTrigger: (id: string) => replayTrigger(id, all),
    ...createSteerOperations({
      ...all,
      startManual: (agent, trigger, id) => startManual(all, agent, trigger, id),
    }),
    /** The resources that runs hold now. */
    locks: () => heldLocks(status.claims()),
  };
}

export type RunService = ReturnType<typeof createRunService>;

const shownTicks = 5;

function nextTicks({ schedule, timezone }: AgentConfig, now: number): string[] {
  const ticks: string[] = [];
  if (schedule === null) return ticks;
  let tick: number | null = now;
  while (ticks.length < shownTicks) {
    tick = nextTick({ expression: schedule, timezone }, tick);
    if (tick === null) break;
    ticks.push(new Date(tick).toISOString());
  }
  return ticks;
}

async function startManual(
  deps: SchedulerContext & RunServicePorts,
  agent: string,
  trigger: Trigger,
  triggerId: string = uuidV7(),
): Promise<StartedManual> {
  mustBeStartable(deps, agent);
  const item = { id: triggerId, agent, at: Date.now(), attempt: 1, trigger };
  const [event] = await startWork([item], deps);
  if (event?.type === "refused") throw refusalOf(event, deps);
  const instanceId = event?.type === "started" ? event.instanceId : null;
  return { triggerId, instanceId, queued: event?.type === "queued" };
}

const mask = "***";

/** The config for a person: without known secrets, headers of models, and the URL of a heartbeat, which may hold some. */
export function maskSecrets(
  config: AgentConfig,
  { redactValue }: Pick<Redactor, "redactValue">,
): AgentConfig {
  const models = config.models.map((model) => {
    const names = Object.keys(model.headers);
    return { ...model, headers: Object.fromEntries(names.map((name) => [name, mask])) };
  });
  return redactValue({ ...config, models, heartbeat: config.heartbeat && mask }) as AgentConfig;
}
