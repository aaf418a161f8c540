import type { OverBudget } from "../../streams/agent-graph.ts";
import type { WorkItem } from "../../streams/vocabulary.ts";
import { agentConfigSchema, agentFacts } from "../foundation/config/agent-view.ts";
import type { AlertOperationsDeps } from "../foundation/contracts/alert-operations.ts";
import type { Operations } from "../foundation/contracts/operations.ts";
import type { SpendMeter } from "../foundation/contracts/spend.ts";
import { activeKey } from "../foundation/credentials/active-key.ts";
import { loadCredential } from "../foundation/credentials/load-credential.ts";
import type { ActiveKey } from "../foundation/credentials/active-key.ts";
import { createGatewayListener, gatewaySettings } from "../interfaces/gateway/listener.ts";
import type { GatewayListener, ListenerOptions } from "../interfaces/gateway/listener.ts";
import { createLoginLinks } from "../interfaces/gateway/login-links.ts";
import type { LoginLinks } from "../interfaces/gateway/login-links.ts";
import { createMetrics } from "../interfaces/gateway/metrics.ts";
import type { Metrics } from "../interfaces/gateway/metrics.ts";
import { createGateway } from "../interfaces/gateway/server.ts";
import type { Gateway } from "../interfaces/gateway/server.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { RunRequests } from "../runtime/runs/run-requests.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { FirstEvents } from "../runtime/runs/first-events.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import type { Observability } from "./observability.ts";
import { createOperations } from "../interfaces/operations/operations.ts";
import type { Stopping } from "../runtime/scheduler/stopping.ts";
import { createWebhooks } from "./webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** The ways into the scheduler from outside. */
export interface Http {
  readonly operations: Operations;
  readonly gateway: Gateway;
  readonly listener: GatewayListener;
  readonly webhooks: Webhooks;
  readonly metrics: Metrics;
  readonly loginLinks: LoginLinks;
  readonly keyChange$: ActiveKey["change$"];
}

export interface HttpDeps {
  readonly options: ListenerOptions & { readonly projectDir: string };
  readonly version: string;
  readonly own: ProjectHandle;
  readonly inputs: Inputs;
  readonly observability: Observability;
  readonly firstEvents: FirstEvents;
  readonly runs: LiveRuns;
  readonly stopping: Stopping;
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly requests: Pick<RunRequests, "matchDelivery">;
  readonly meter: Pick<SpendMeter, "limits" | "raise">;
  readonly overBudget: (agent: string) => OverBudget | null;
  readonly alerts: AlertOperationsDeps;
}

/** Webhooks, operations and the gateway over them; nothing listens yet. */
export function createHttp(deps: HttpDeps): Http {
  const { options, own, inputs, version, requests, dispatch } = deps;
  const { status, logger, switches, logSource, search } = deps.observability;
  const { project$ } = inputs;
  const { store, redactor, sessions, lock, socketPath, startedAt } = own;
  const warn = (message: string): void => logger.log(40, message);
  const metrics = createMetrics(version);
  const keys = activeKey({ home: own.home, apiKey: own.apiKey, sessions, redactor, warn });
  const webhooks = createWebhooks({
    own,
    project$,
    switches,
    matchRuns: (event, payload) => requests.matchDelivery(event, payload),
    dispatch,
    count: (delivery) => metrics.delivery(delivery),
    warn,
  });
  const operations = createOperations({
    status,
    firstEvents: deps.firstEvents,
    runs: deps.runs,
    stopping: deps.stopping,
    switches,
    store,
    inputs,
    meter: deps.meter,
    overBudget: deps.overBudget,
    webhooks,
    redactor,
    alerts: deps.alerts,
    logs: logSource,
    projectDir: options.projectDir,
    credential: (reference) => loadCredential(own.home, reference),
    dispatch,
  });
  const loginLinks = createLoginLinks({ apiKey: keys.key });
  const settings = gatewaySettings(options, project$.value);
  const gateway = createGateway({
    ...settings,
    operations,
    agentView: { schema: agentConfigSchema, facts: agentFacts },
    sessions,
    loginLinks,
    logs: logSource,
    search,
    apiKey: keys.key,
    keyChange$: keys.change$,
    metrics,
    keyPath: own.apiKey.path,
    log: (level, message) => logger.log(level, message),
  });
  const listener = createGatewayListener({
    gateway,
    options,
    socketPath,
    project$,
    status,
    announce: (gatewayUrl) =>
      lock.announce({ pid: process.pid, startedAt, socketPath, gatewayUrl, version }),
    note: (message) => logger.log(30, message),
    warn,
  });
  const { change$: keyChange$ } = keys;
  return { operations, gateway, listener, webhooks, metrics, loginLinks, keyChange$ };
}
