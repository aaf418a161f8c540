import { createSpend } from "../features/spend/spend-store.ts";
import { asyncScheduler } from "rxjs";
import { createSlots } from "../../streams/runs/slots.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import { answerQuestion } from "../features/people/operations.ts";
import { performAs } from "../foundation/perform.ts";
import { createBudgetHolds } from "../features/spend/budget-holds.ts";
import type { InstallationTokens } from "../features/github-app/installation-tokens.ts";
import { createSearch } from "../features/search/search.ts";
import { createTelemetry } from "../features/telemetry/telemetry.ts";
import type { AgentFiles } from "../foundation/config/agent-files.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { createLogSource } from "../foundation/logs/log-source.ts";
import { runName, type ClusterEngine } from "../runtime/cluster/cluster-engine.ts";
import type { FileDoor } from "../runtime/run-api/file-door.ts";
import { createRunSockets } from "../runtime/run-api/run-sockets.ts";
import { createClosingProbe } from "../runtime/runners/host-user/isolation.ts";
import { createBackfills } from "../runtime/runs/backfills.ts";
import { createFirstEvents } from "../runtime/runs/first-events.ts";
import { createLiveRuns } from "../runtime/runs/live-runs.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import { createBrokering } from "../runtime/run-api/egress/broker/brokering.ts";
import { createClusterDoor } from "../runtime/cluster/door/cluster-door.ts";
import { createMcpConnect } from "../runtime/runs/connect-mcp.ts";
import { gatedHosts } from "../runtime/runs/gated-hosts.ts";
import { createRunEgress, type EgressOptions } from "../runtime/runs/run-egress.ts";
import { createHttp } from "./http.ts";
import { createKeptFiles } from "./kept-files.ts";
import { createModelCalls } from "../runtime/runs/model-calls.ts";
import { gatedMeter } from "../runtime/runs/gated-meter.ts";
import { createRefusedKeys } from "../runtime/runs/refused-keys.ts";
import { createRunMeter } from "../runtime/runs/run-meter.ts";
import { createTrees } from "../runtime/runs/trees.ts";
import { createPeople, createRequests } from "./requests.ts";
import { createRuntimes, isRemote, socketBaseDir } from "./runtimes.ts";
import { alertQuestions, createProjectAlerts } from "./project-alerts.ts";

export interface SchedulerOptions {
  /** Absolute. */
  readonly projectDir: string;
  readonly webUi: boolean;
  /** Runs on request only: no schedules, no webhooks, no waiting work, no TCP. */
  readonly onDemand?: boolean;
  /** Replaces `[gateway].port`; 0 for any free one. */
  readonly port?: number;
  /** Replaces `[gateway].host`. */
  readonly host?: string;
  /** How long live runs may take to finish when the scheduler stops. */
  readonly graceSeconds: number;
  readonly env: NodeJS.ProcessEnv;
  /** How hosts of allow lists are resolved and reached. Default: this machine's resolver and sockets. */
  readonly egress?: EgressOptions;
  /** Starts runs in the cluster. Default: the engine of `[cluster]`. */
  readonly clusterEngine?: ClusterEngine;
  /** Receives the scheduler's own lines, for the terminal. */
  readonly log: (entry: LogEntry) => void;
}

/** The services of a scheduler; nothing is subscribed or listens yet. */
export type Services = ReturnType<typeof createServices>;

/** Creates the services; `agents` are the files of the agents at the start. */
export function createServices(
  context: SchedulerContext,
  options: SchedulerOptions,
  own: ProjectHandle,
  agents: ReadonlyMap<string, AgentFiles>,
) {
  const { projectDir, env, store, redactor, project$ } = context;
  const { stopping, status, clock, logWriter, warn } = context;
  const sockets = createRunSockets({
    records: { local: store.channels, remote: store.remoteRuns },
    redactor,
    onProblem: warn,
  });
  const runs = createLiveRuns({
    elapsed: () => Math.round(performance.now()),
    clock,
    refusalOf: store.tables(createSpend).refusal,
    redactValue: redactor.redactValue,
    freeze: (request) => runtimes.freeze(request),
    thaw: (request) => runtimes.thaw(request),
    openSocket: async ({ instanceId, agent }) =>
      isRemote(agent)
        ? sockets.openRemote(instanceId, runName(instanceId))
        : sockets.open(instanceId, await socketBaseDir(agent, env)),
  });
  const whyNotClosed = createClosingProbe(env);
  const door = createClusterDoor(context, sockets);
  let loading: Promise<InstallationTokens> | undefined;
  const githubTokens = (): Promise<InstallationTokens> =>
    (loading ??= import("../features/github-app/installation-tokens.ts").then((tokens) =>
      tokens.createInstallationTokens({
        now: () => clock.now(),
        run: runs.find,
        hide: redactor.add,
        onProblem: warn,
      }),
    ));
  const tokenFor: InstallationTokens["tokenFor"] = async (...run) =>
    (await githubTokens()).tokenFor(...run);
  const brokering = createBrokering(context, whyNotClosed, tokenFor);
  const telemetry = createTelemetry(context, (count) => http.metrics.onSpansDropped(count));
  const { clusterEngine = null } = options;
  const refusedKeys = createRefusedKeys(() => clock.now());
  const { refusalOf } = refusedKeys;
  const keptFiles = createKeptFiles(context, {
    tokenFor: (request, app) => tokenFor(request, app, false),
    untilEnd: runs.untilEnd,
  });
  const { memories } = keptFiles;
  const trees = createTrees(keptFiles.trees, runs);
  const ports = { runs, door, brokering, telemetry, clusterEngine, refusalOf, trees, memories };
  const runtimes = createRuntimes(context, ports);
  const firstEvents = createFirstEvents(() => stopping.phase() === "draining");
  const meter = createRunMeter(context, runs);
  const budgets = createBudgetHolds({
    meter,
    agent: (name) => status.agent(name),
    agents: () => status.agents(),
    changed$: project$,
    clock,
    scheduler: asyncScheduler,
  });
  const people = createPeople(context, keptFiles);
  let doorOpening: Promise<FileDoor> | undefined;
  const fileDoor = (): Promise<FileDoor> =>
    (doorOpening ??= import("../runtime/run-api/file-door.ts").then(({ createFileDoor }) =>
      createFileDoor(trees, warn),
    ));
  const requests = createRequests(context, {
    runs,
    firstEvents,
    budgets,
    people,
    onTaken: (item) => http.webhooks.gatherings.taken(item),
    connectMcp: createMcpConnect(context, () => http.listener.url(), options.egress),
  });
  const gatewayUrl = (): string | null => http.listener.url();
  const { alerts, chats } = createProjectAlerts(context, agents, {
    dashboardUrl: () => (options.webUi ? gatewayUrl() : null),
    questions: alertQuestions(context, people.proposals, people.answerLinks),
  });
  const backfills = createBackfills(context);
  const logs = createLogSource(projectDir, { appended$: logWriter.appended$ });
  // The index's threads start with the first lines and the first search, so that they cost no time at a start.
  const search = createSearch({ projectDir, warn });
  const http = createHttp(context, own, {
    options,
    firstEvents,
    backfills,
    runs,
    requests,
    ...people,
    meter,
    overBudget: budgets.overBudget,
    alerts: alerts.operations,
    logs,
    search,
    blobs: keptFiles.blobs,
  });
  const gated = gatedHosts(context, runs, requests.gates);
  return {
    sockets,
    runs,
    keptFiles,
    files: {
      handle: async (...exchange: Parameters<FileDoor["handle"]>) =>
        (await fileDoor()).handle(...exchange),
      close: async () => (await doorOpening)?.close(),
    },
    whyNotClosed,
    door,
    runtimes,
    slots: createSlots(project$.value.scale),
    /** How many runs may be starting at once. */
    starting: createSlots(project$.value.local.starting),
    firstEvents,
    backfills,
    questions: people.questions,
    proposals: people.proposals,
    requests,
    meter,
    budgets,
    refusedKeys,
    modelCalls: createModelCalls(
      context,
      runs,
      gatedMeter(requests.gates, runs, meter),
      refusedKeys,
    ),
    closeGithubTokens: async () => (await loading)?.close(),
    egress: createRunEgress(context, runs, brokering, gatewayUrl, gated, options.egress),
    alerts,
    /** Answers by buttons in chats; while it is subscribed. */
    chat$: chats((id, answer, by) =>
      performAs(answerQuestion, { id, answer }, http.operationContext, by),
    ),
    search,
    telemetry,
    http,
  };
}
