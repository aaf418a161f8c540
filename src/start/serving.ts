import type { WorkItem } from "../../streams/vocabulary.ts";
import { agentConfigSchema, agentFacts } from "../config/agent-view.ts";
import type { LiveRuns } from "../runs/live-runs.ts";
import type { RunRequests } from "../runs/run-requests.ts";
import type { Operations } from "../contracts/operations.ts";
import { createMetrics } from "../gateway/metrics.ts";
import type { Metrics } from "../gateway/metrics.ts";
import { createGateway } from "../gateway/server.ts";
import type { Gateway } from "../gateway/server.ts";
import type { FirstEvents } from "../runs/first-events.ts";
import type { Inputs } from "./inputs.ts";
import { activeKey } from "../credentials/active-key.ts";
import { createGatewayListener, gatewaySettings } from "../gateway/listener.ts";
import type { GatewayListener } from "../gateway/listener.ts";
import { createOperations } from "./operations.ts";
import type { OwnProject } from "./own-project.ts";
import type { Reporting } from "./reporting.ts";
import type { Stopping } from "./stopping.ts";
import { createWebhookEdge } from "./webhook-edge.ts";
import type { WebhookEdge } from "./webhook-edge.ts";

/** What the world outside reaches the scheduler by. */
export interface Serving {
  readonly operations: Operations;
  readonly gateway: Gateway;
  readonly listening: GatewayListener;
  readonly webhooks: WebhookEdge;
  readonly metrics: Metrics;
  readonly keyChange$: ReturnType<typeof activeKey>["change$"];
}

export interface ServingDeps {
  readonly webUi: boolean;
  readonly onDemand?: boolean;
  readonly port?: number;
  readonly host?: string;
  readonly version: string;
  readonly own: OwnProject;
  readonly inputs: Inputs;
  readonly reporting: Reporting;
  readonly firstEvents: FirstEvents;
  readonly runs: LiveRuns;
  readonly stopping: Stopping;
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly requests: Pick<RunRequests, "offerDelivery">;
}

/** Webhooks, operations and the gateway over them; nothing listens yet. */
export function createServing(deps: ServingDeps): Serving {
  const { own, inputs, reporting, version, requests } = deps;
  const { board, journal, switches } = reporting;
  const { project$ } = inputs;
  const warn = (message: string): void => journal.say(40, message);
  const metrics = createMetrics(version);
  const keys = activeKey({ ...own, warn });
  const count: Parameters<typeof createWebhookEdge>[0]["count"] = (delivery) =>
    metrics.delivery(delivery);
  const webhooks = createWebhookEdge({
    ...deps,
    offer: (event, payload) => requests.offerDelivery(event, payload),
    ...{ project$, switches, count, warn },
  });
  const operations = createOperations({
    ...deps,
    board,
    switches,
    store: own.store,
    webhooks,
    redactor: own.redactor,
  });
  const gateway = createGateway({
    ...gatewaySettings(deps, project$.value),
    operations,
    agentView: { schema: agentConfigSchema, facts: agentFacts },
    sessions: own.sessions,
    logs: reporting.logSource,
    apiKey: keys.key,
    keyChange$: keys.change$,
    metrics,
    keyPath: own.apiKey.path,
    log: (level, message) => journal.say(level, message),
  });
  const { lock, socketPath, startedAt } = own;
  const listening = createGatewayListener({
    gateway,
    options: deps,
    socketPath,
    project$,
    status: board,
    announce: (gatewayUrl) =>
      lock.announce({ pid: process.pid, startedAt, socketPath, gatewayUrl, version }),
    note: (message) => journal.say(30, message),
    warn,
  });
  return { operations, gateway, listening, webhooks, metrics, keyChange$: keys.change$ };
}
