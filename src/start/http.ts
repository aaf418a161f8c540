import { createSpend } from "../features/spend/spend-store.ts";
import type { SpendMeter } from "../features/spend/meter.ts";
import { tap } from "rxjs";
import type { OverBudget } from "../../streams/agent-graph.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import type { AlertOperationsDeps } from "../features/alerts/alerts.ts";
import { createArtifactStore } from "../features/artifacts/artifact-store.ts";
import type { Blobs } from "../foundation/files/blobs.ts";
import type { LogSource } from "../foundation/logs/log-source.ts";
import type { AnswerLinks } from "../features/people/answer-links.ts";
import type { Inbox } from "../features/people/inbox.ts";
import type { SessionStore } from "../features/sessions/session-store.ts";
import type { MemoryReports } from "../features/memory/memory-reports.ts";
import type { Search } from "../features/search/search.ts";
import { createAlertOperations } from "../features/alerts/alert-operations.ts";
import { createSpendAnswers, raiseBudget } from "../features/spend/spend-answers.ts";
import { createAudit, createAuditStore } from "../features/people/audit.ts";
import { createTokens } from "../features/tokens/tokens.ts";
import { createTokenStore } from "../features/tokens/token-store.ts";
import { activeKey } from "../interfaces/gateway/active-key.ts";
import { operations, type OperationContext } from "../interfaces/operations/table.ts";
import { createGatewayListener, gatewaySettings } from "../interfaces/gateway/listener.ts";
import type { ListenerOptions } from "../interfaces/gateway/listener.ts";
import { createLoginLinks } from "../interfaces/gateway/login-links.ts";
import { createMetrics } from "../interfaces/gateway/metrics.ts";
import { createGateway } from "../interfaces/gateway/server.ts";
import { createAgentCounts } from "../runtime/runs/agent-counts.ts";
import { createStartOnce } from "../runtime/runs/start-once.ts";
import { agentNow } from "../runtime/runs/why-not.ts";
import { agentHosts, createFileEdits } from "../runtime/agents/file-edits.ts";
import type { Backfills } from "../runtime/runs/backfills.ts";
import type { FirstEvents } from "../runtime/runs/first-events.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { Proposals } from "../runtime/runs/proposals.ts";
import type { RunRequests } from "../runtime/runs/run-requests.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import { createWebhooks } from "../features/webhooks/webhooks.ts";

interface HttpDeps {
  readonly options: ListenerOptions;
  readonly firstEvents: FirstEvents;
  readonly backfills: Backfills;
  readonly runs: LiveRuns;
  readonly requests: RunRequests;
  readonly memories: MemoryReports;
  readonly proposals: Proposals;
  readonly answerLinks: AnswerLinks;
  readonly inbox: Inbox;
  readonly sessions: SessionStore;
  readonly meter: SpendMeter;
  readonly overBudget: (agent: string) => OverBudget | null;
  readonly alerts: AlertOperationsDeps;
  readonly logs: LogSource;
  readonly search: Search;
  readonly blobs: Blobs;
}

/** Webhooks, operations and the gateway over them; nothing listens yet. */
export function createHttp(context: SchedulerContext, own: ProjectHandle, deps: HttpDeps) {
  const { home, version, redactor, project$, status, log, warn } = context;
  const { options, requests, answerLinks } = deps;
  const { sessions, lock, socketPath, startedAt } = own;
  const metrics = createMetrics(version);
  const keys = activeKey({ home, apiKey: own.apiKey, sessions, redactor, warn });
  const webhooks = createWebhooks(context, requests.matchDelivery, metrics.delivery);
  const files = createFileEdits(context);
  const audit = createAudit({
    store: context.store.tables(createAuditStore),
    now: Date.now,
    redact: redactor.redact,
    warn,
    onAct: () => status.apply({ type: "list", list: "audit" }),
  });
  const operationContext: OperationContext = {
    ...context,
    ...deps,
    questions: deps.proposals,
    differenceOf: deps.proposals.differenceOf,
    readAgain: webhooks.readAgain,
    gatherings: webhooks.gatherings,
    startOnce: createStartOnce(context.store),
    agentNow: (name) => agentNow(name, context),
    planned: () => ({ agents: status.agents(), calendars: project$.value.calendars }),
    countsOf: createAgentCounts({ status, alerts: deps.alerts }),
    files,
    agentHosts: (name) => agentHosts(name, context),
    alerts: createAlertOperations(deps.alerts, redactor),
    spend: {
      answer: createSpendAnswers({
        report: context.store.tables(createSpend),
        limits: (agents) => deps.meter.limits(agents),
        agents: () => status.agents(),
        timezone: () => project$.value.timezone,
        now: Date.now,
      }),
      raise: (scope, usd) => raiseBudget(scope, usd, { ...context, ...deps }),
    },
    allowAlways: files.allowAlways,
    audit,
    artifacts: context.store.tables(createArtifactStore),
    tokens: createTokens({ store: context.store.tables(createTokenStore), now: Date.now, warn }),
  };
  const loginLinks = createLoginLinks(keys.key);
  const gateway = createGateway({
    ...gatewaySettings(options, project$.value),
    rows: operations,
    context: operationContext,
    receiveWebhook: webhooks.receive,
    sessions,
    loginLinks,
    answerLinks,
    apiKey: keys.key,
    keyChange$: keys.change$,
    metrics,
    log,
  });
  const listener = createGatewayListener({
    gateway,
    options,
    socketPath,
    project$,
    status,
    announce: (gatewayUrl) =>
      lock.announce({ pid: process.pid, startedAt, socketPath, gatewayUrl, version }),
    note: (message) => log(30, message),
    warn,
  });
  const keyChange$ = keys.change$.pipe(tap(() => audit.recordAct({ act: "key-change" })));
  return {
    operationContext,
    gateway,
    listener,
    webhooks,
    metrics,
    loginLinks,
    keyChange$,
  };
}
