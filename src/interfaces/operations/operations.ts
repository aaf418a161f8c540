import type { OverBudget } from "../../../streams/agent-graph.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { nextTick } from "../../../streams/triggers/next-tick.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { AlertOperationsDeps } from "../../foundation/contracts/alert-operations.ts";
import type { LogSource } from "../../foundation/contracts/log-source.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import type {
  Delivery,
  DeliveryAnswer,
  Operations,
} from "../../foundation/contracts/operations.ts";
import type { SpendMeter } from "../../foundation/contracts/spend.ts";
import type { Receipt } from "../../foundation/contracts/webhook-receipts.ts";
import type { Store } from "../../foundation/store/store.ts";
import { v7 as uuidV7 } from "uuid";
import { viewReceipt } from "../../features/webhooks/receipt-view.ts";
import type { ReceiptViewDeps } from "../../features/webhooks/receipt-view.ts";
import type { FirstEvents } from "../../runtime/runs/first-events.ts";
import type { LiveRuns } from "../../runtime/runs/live-runs.ts";
import { heldLocks } from "../../runtime/runs/lock-view.ts";
import type { Inputs } from "../../runtime/scheduler/inputs.ts";
import { agentHosts } from "./agent-hosts.ts";
import type { AgentHostsDeps } from "./agent-hosts.ts";
import { createAlertOperations } from "./alerts.ts";
import { createAllowHost } from "./allow-host.ts";
import { replay, replayTrigger } from "./replay.ts";
import type { ReadAgain, ReplayDeps } from "./replay.ts";
import { knownAgent, mustBeRunnable, refusalOf } from "./runnable.ts";
import { raiseBudget } from "./raise-budget.ts";
import { compareRuns } from "./compare-runs.ts";
import { createSpendAnswers } from "./spend-answer.ts";
import { whyNot } from "./why-not.ts";
import { whyNotNow } from "./why-not-now.ts";
import { viewRun } from "./view-run.ts";
import type { StatusStore } from "../../runtime/scheduler/status-store.ts";
import type { Stopping } from "../../runtime/scheduler/stopping.ts";
import type { Switches } from "../../runtime/scheduler/switches.ts";

/** Operations write to the streams' inputs, and read status and store. */
export interface OperationDeps {
  readonly status: StatusStore;
  readonly firstEvents: FirstEvents;
  readonly runs: Pick<LiveRuns, "find">;
  readonly stopping: Stopping;
  readonly switches: Switches;
  readonly store: Pick<
    Store,
    | "work"
    | "history"
    | "originals"
    | "receipts"
    | "runs"
    | "spendReport"
    | "hosts"
    | "refused"
    | "unmatched"
    | "problem"
    | "settings"
  >;
  readonly logs: Pick<LogSource, "read">;
  /** Absolute. */
  readonly projectDir: string;
  /** Rejects when it is missing. */
  readonly credential: AgentHostsDeps["credential"];
  readonly inputs: Pick<Inputs, "manual$" | "kill$" | "project$">;
  readonly meter: Pick<SpendMeter, "limits" | "raise">;
  readonly overBudget: (agent: string) => OverBudget | null;
  readonly webhooks: {
    readonly receive: (delivery: Delivery) => Promise<DeliveryAnswer>;
    readonly readAgain: (receipt: Receipt) => ReadAgain | null;
  };
  readonly redactor: ReceiptViewDeps["redactor"];
  readonly alerts: AlertOperationsDeps;
  /** Gives committed work to its agent's queue. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
}

/** The operations behind the gateway's routes. */
export function createOperations(deps: OperationDeps): Operations {
  const { status, stopping, switches, store, firstEvents, dispatch } = deps;
  const { kill$ } = deps.inputs;
  const { readAgain } = deps.webhooks;
  const spend = createSpendAnswers({
    report: store.spendReport,
    limits: (agents) => deps.meter.limits(agents),
    agents: () => status.agents(),
    timezone: () => deps.inputs.project$.value.timezone,
    now: Date.now,
  });
  const { overBudget } = deps;
  const running = { status, stopping, overBudget };
  const replays: ReplayDeps = { ...running, store, firstEvents, dispatch, readAgain };
  const { projectDir, credential } = deps;
  const project = () => deps.inputs.project$.value;
  const hosts = { status, hosts: store.hosts, project, projectDir, credential };
  return {
    snapshot: () => status.snapshot(),
    update$: status.update$,
    hasAgent: (name) => status.agent(name) !== undefined,
    agent: (name) => {
      const { config } = knownAgent(status, name);
      if (config === null) return { config, nextTicks: [] };
      return { config: maskSecrets(config), nextTicks: nextTicks(config, Date.now()) };
    },
    phase: () => stopping.phase(),
    storeProblem: () => {
      const problem = store.problem();
      // So that the next one who asks knows whether it is over.
      if (problem !== null && stopping.phase() === "running") {
        void store.settings.recordAlive(Date.now()).catch(() => undefined);
      }
      return problem;
    },
    setPaused: (paused) => switches.setPaused(paused),
    setEnabled: async (name, enabled) => {
      const { config } = knownAgent(status, name);
      if (enabled && config?.scale === 0) {
        const message = `agent "${name}" has scale = 0 in its config.toml; set scale there to enable it`;
        throw new OperationError("disabled", message);
      }
      await switches.setEnabled(name, enabled);
    },
    trigger: (name, prompt) => trigger(deps, name, prompt),
    killAgent: (name) => {
      const { running } = knownAgent(status, name);
      kill$.next({ agent: name });
      return Promise.resolve(running);
    },
    killInstance: (instanceId) => {
      if (deps.runs.find(instanceId) === undefined) {
        const message = `no run "${instanceId}" is running`;
        return Promise.reject(new OperationError("unknown_instance", message));
      }
      kill$.next({ instanceId });
      return Promise.resolve();
    },
    stop: (now) => (now ? stopping.stopNow("al stop --now") : stopping.stop("al stop")),
    history: (query) => store.history.query(query),
    refusedDeliveries: async (query) => {
      await store.refused.flush();
      return store.refused.query(query);
    },
    whyNot: async (name, query) => {
      const record = knownAgent(status, name);
      await store.refused.flush();
      const { scheduler, locks } = status.snapshot();
      const { paused, running } = scheduler;
      const now = whyNotNow(record, { paused, running, scale: project().scale, locks });
      return whyNot(record, now, query, deps);
    },
    callTree: (id) => {
      const tree = store.history.callTree(id);
      if (tree === undefined) {
        throw new OperationError("unknown_trigger", `there is no trigger "${id}" in the history`);
      }
      const { redact, redactValue } = deps.redactor;
      const context = tree.context === null ? null : redact(tree.context);
      return { ...tree, context, value: redactValue(tree.value) };
    },
    run: (instanceId) => viewRun(instanceId, deps),
    runDifference: (instanceId, other) => compareRuns(instanceId, other, deps),
    receipt: (id) =>
      viewReceipt(id, {
        receipt: (key) => store.receipts.get(key),
        redactor: deps.redactor,
      }),
    replay: (id, agent) => replay(id, agent, replays),
    replayTrigger: (id) => replayTrigger(id, replays),
    spend,
    raiseBudget: (scope, usd) => raiseBudget(scope, usd, deps),
    agentHosts: (name) => agentHosts(name, hosts),
    allowHost: createAllowHost(hosts),
    ...createAlertOperations(deps.alerts, (text) => deps.redactor.redact(text)),
    locks: () => heldLocks(status.claims()),
    receiveWebhook: (delivery) => deps.webhooks.receive(delivery),
  };
}

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

async function trigger(
  deps: OperationDeps,
  name: string,
  prompt: string | null,
): Promise<{ triggerId: string; instanceId: string | null; queued: boolean }> {
  mustBeRunnable(deps, name);
  const id = uuidV7();
  const item: WorkItem = {
    id,
    agent: name,
    at: Date.now(),
    attempt: 1,
    trigger: { kind: "manual", prompt },
  };
  await deps.store.work.enqueue([item]);
  const first = deps.firstEvents.of(id);
  deps.inputs.manual$.next(item);
  const event = await first;
  if (event.type === "refused") throw refusalOf(event, deps);
  const instanceId = event.type === "started" ? event.instanceId : null;
  return { triggerId: id, instanceId, queued: event.type === "queued" };
}

const mask = "***";

/** The config for a person to look at: headers of models and the URL of a heartbeat may hold secrets. */
export function maskSecrets(config: AgentConfig): AgentConfig {
  const models = config.models.map((model) => {
    const names = Object.keys(model.headers);
    return { ...model, headers: Object.fromEntries(names.map((name) => [name, mask])) };
  });
  return { ...config, models, heartbeat: config.heartbeat && mask };
}
