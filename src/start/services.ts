import { asyncScheduler } from "rxjs";
import type { OverBudget } from "../../streams/agent-graph.ts";
import { createClock } from "../../streams/clock.ts";
import type { Clock } from "../../streams/clock.ts";
import { createSlots } from "../../streams/runs/slots.ts";
import type { Slots } from "../../streams/runs/slots.ts";
import type { LogEntry, WorkItem } from "../../streams/vocabulary.ts";
import type { Alerts } from "../features/alerts/alerts.ts";
import type { SpendMeter } from "../foundation/contracts/spend.ts";
import type { AgentFiles } from "../foundation/config/agent-files.ts";
import type { LoadedProject } from "../foundation/config/load-project.ts";
import { messageOf } from "../foundation/errors.ts";
import type { LogWriter } from "../foundation/logs/log-writer.ts";
import type { ClusterEngine } from "../runtime/cluster/cluster-engine.ts";
import type { RunSockets } from "../runtime/run-api/run-sockets.ts";
import { createFirstEvents } from "../runtime/runs/first-events.ts";
import type { FirstEvents } from "../runtime/runs/first-events.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { ModelGateway } from "../runtime/run-api/model-gateway/model-gateway.ts";
import { recordAttempts } from "../runtime/runs/record-attempts.ts";
import { createRunRequests } from "../runtime/runs/run-requests.ts";
import type { RunRequests } from "../runtime/runs/run-requests.ts";
import { loadCredential } from "../foundation/credentials/load-credential.ts";
import type { Egress } from "../runtime/run-api/egress/egress.ts";
import { interpretStored } from "../features/webhooks/interpret.ts";
import { createBudgetHolds } from "../features/spend/budget-holds.ts";
import type { BudgetHolds } from "../features/spend/budget-holds.ts";
import { createProjectAlerts } from "./alerts.ts";
import { abandonBy, dispatchTo } from "../runtime/scheduler/inputs.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { Brokering } from "./brokering.ts";
import type { ClusterDoor } from "./door.ts";
import { createObservability } from "./observability.ts";
import type { Observability } from "./observability.ts";
import type { Runtimes } from "./runtimes.ts";
import { createRunEgress } from "./egress.ts";
import type { EgressOptions } from "./egress.ts";
import { createModelCalls, modelSources } from "./model-calls.ts";
import { createRunMeter } from "./run-meter.ts";
import { mustBeRunnable } from "../interfaces/operations/runnable.ts";
import { createHttp } from "./http.ts";
import type { Http } from "./http.ts";
import { createStopping } from "../runtime/scheduler/stopping.ts";
import type { Stopping } from "../runtime/scheduler/stopping.ts";

export interface SchedulerOptions {
  /** Absolute. */
  readonly projectDir: string;
  readonly webUi: boolean;
  /** Runs on request only: no schedules, no webhooks, no waiting work, no TCP. */
  readonly onDemand?: boolean;
  /** Instead of `[gateway].port`; 0 for any free one. */
  readonly port?: number;
  /** Instead of `[gateway].host`. */
  readonly host?: string;
  /** How long running runs get when it stops. */
  readonly graceSeconds: number;
  readonly env: NodeJS.ProcessEnv;
  /** How hosts of allow lists are found and reached, where that is not by this machine's resolver and sockets. */
  readonly egress?: EgressOptions;
  /** What starts runs in the cluster, where that is not the engine of `[cluster]`. */
  readonly clusterEngine?: ClusterEngine;
  /** Takes the scheduler's own lines, for the terminal. */
  readonly log: (entry: LogEntry) => void;
}

/** Everything that exists before the services: options, config, the acquired project, inputs, runtimes. */
export interface SchedulerContext {
  readonly options: SchedulerOptions;
  readonly loaded: LoadedProject;
  readonly own: ProjectHandle;
  readonly inputs: Inputs;
  readonly sockets: RunSockets;
  readonly door: ClusterDoor;
  readonly logWriter: LogWriter;
  readonly runs: LiveRuns;
  readonly runtimes: Runtimes;
  readonly brokering: Brokering;
  /** Why the network of a run of this OS user can't be closed; null when it can. */
  readonly whyNotClosed: () => Promise<string | null>;
  readonly version: string;
}

/** The parts of a scheduler beside its graph; nothing is subscribed or listens yet. */
export interface Services {
  readonly clock: Clock;
  readonly slots: Slots;
  /** How many runs may be starting at once. */
  readonly starting: Slots;
  readonly observability: Observability;
  readonly firstEvents: FirstEvents;
  readonly stopping: Stopping;
  readonly requests: RunRequests;
  readonly meter: SpendMeter;
  readonly budgets: BudgetHolds;
  /** The way of runs to their models. */
  readonly modelCalls: ModelGateway;
  /** The way of runs to other hosts. */
  readonly egress: Egress;
  readonly alerts: Alerts;
  readonly http: Http;
  /** Gives committed work to its agent's queue. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly warn: (message: string) => void;
}

/** What was read before the services are created. */
export interface EarlierState {
  /** The last lines of the logs. */
  readonly earlier: readonly LogEntry[];
  /** The agents' files. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
}

/** Creates the services; `abort` ends the graph. */
export function createServices(
  context: SchedulerContext,
  { earlier, agents }: EarlierState,
  abort: () => void,
): Services {
  const { options, loaded, own, inputs, runs, version } = context;
  const { projectDir, onDemand = false } = options;
  const dispatch = dispatchTo(inputs);
  const observability = createObservability({
    projectDir,
    version,
    own,
    inputs,
    earlier,
    logWriter: context.logWriter,
    print: options.log,
  });
  const { logger, status } = observability;
  const warn = (message: string): void => logger.log(40, message);
  const unrecorded = (error: unknown): void =>
    warn(`the next start will not know that this scheduler was stopped: ${messageOf(error)}`);
  const firstEvents = createFirstEvents(() => stopping.phase() === "draining");
  const stopping = createStopping({
    stopping$: inputs.stopping$,
    kill$: inputs.kill$,
    abort,
    graceMs: options.graceSeconds * 1000,
    log: (message) => logger.log(30, message),
    running: () => status.running(),
    // A run by `al run` without a scheduler ends with that command; the next scheduler must not retry it.
    endsRunsAs: onDemand ? "killed" : "interrupted",
    begin: () => {
      status.apply({ type: "scheduler", patch: { draining: true } });
      if (!onDemand) own.store.settings.recordStop(Date.now()).catch(unrecorded);
    },
  });
  const clock = createClock(asyncScheduler);
  const meter = createRunMeter({
    store: own.store.spend,
    project: () => inputs.project$.value,
    agent: (name) => status.agent(name),
    runs,
    warn,
  });
  const budgets = createBudgetHolds({
    meter,
    agent: (name) => status.agent(name),
    agents: () => status.agents(),
    changed$: inputs.project$,
    clock,
    scheduler: asyncScheduler,
  });
  const overBudget = (agent: string): OverBudget | null => budgets.overBudget(agent);
  const requests = createRunRequests({
    clock,
    runs,
    store: own.store,
    firstEvents,
    dispatch,
    onProblem: warn,
    redact: own.redactor.redact,
    project: () => inputs.project$.value,
    agentNames: () => [...status.agents()].map(({ name }) => name),
    mustBeRunnable: (agent) => mustBeRunnable({ status, stopping, overBudget }, agent),
    abandon: abandonBy(inputs),
    onTaken: ({ agent, id }) => inputs.withdraw$.next({ agent, itemId: id, why: "taken" }),
    deliveryOf: (id) => {
      const receipt = own.store.receipts.get(id);
      return receipt && interpretStored(receipt);
    },
    funds: ({ instanceId, request: { agent } }) =>
      budgets.funds({ instanceId, agent: agent.name, onLimit: agent.budget.onLimit }),
  });
  const gatewayUrl = (): string | null => http.listener.url();
  const alerts = createProjectAlerts({
    options,
    own,
    inputs,
    agents,
    status,
    clock,
    gatewayUrl,
    warn,
  });
  const http = createHttp({
    options,
    version,
    own,
    inputs,
    observability,
    firstEvents,
    runs,
    stopping,
    dispatch,
    requests,
    meter,
    overBudget,
    alerts: alerts.operations,
  });
  const egress = createRunEgress(
    {
      runs,
      agent: (name) => status.agent(name)?.config ?? undefined,
      project: () => inputs.project$.value,
      credential: (reference) => loadCredential(own.home, reference),
      gatewayUrl,
      env: options.env,
      bindings: context.brokering.bindings,
      intercept: context.brokering.intercept,
      onAttempt: recordAttempts({
        runs,
        hosts: own.store.hosts,
        redact: (text) => own.redactor.redact(text),
      }),
      warn,
    },
    options.egress,
  );
  const { scale, local } = loaded.project;
  return {
    clock,
    slots: createSlots(scale),
    starting: createSlots(local.starting),
    observability,
    firstEvents,
    stopping,
    requests,
    meter,
    budgets,
    modelCalls: createModelCalls({
      runs,
      sources: modelSources(own),
      meter,
      store: own.store.spend,
      warn,
    }),
    egress,
    alerts,
    http,
    dispatch,
    warn,
  };
}
