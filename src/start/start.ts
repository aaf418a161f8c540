import { problemText } from "../../streams/problem-text.ts";
import { keptLogs } from "../../streams/status/reduce-status.ts";
import { bareSkillProblem, isAgentName, listAgents } from "../foundation/config/agent-files.ts";
import { loadProject } from "../foundation/config/load-project.ts";
import type { Operations } from "../foundation/contracts/operations.ts";
import { messageOf } from "../foundation/errors.ts";
import { latestEntries } from "../foundation/logs/latest-entries.ts";
import { runName } from "../runtime/cluster/cluster-engine.ts";
import { instancesOf, refuseAdopted } from "../runtime/runners/adopt-runs.ts";
import { createRunSockets } from "../runtime/run-api/run-sockets.ts";
import { createLiveRuns } from "../runtime/runs/live-runs.ts";
import { createBrokering } from "./brokering.ts";
import { createClusterDoor } from "./door.ts";
import { buildGraph } from "./build-graph.ts";
import { schedulerEffects } from "./scheduler-effects.ts";
import { createInputs } from "../runtime/scheduler/inputs.ts";
import { checkListening } from "../interfaces/gateway/listener.ts";
import { linkUntilUsed } from "../interfaces/gateway/login-links.ts";
import { acquireProject } from "./acquire-project.ts";
import { createServices } from "./services.ts";
import type { SchedulerContext, Services, SchedulerOptions } from "./services.ts";
import { readAgents } from "./agent-directories.ts";
import { modelSources } from "./model-calls.ts";
import { createRuntimes, isRemote, socketBaseDir } from "./runtimes.ts";
import { warnOfNetworks } from "./warn-of-networks.ts";
import { createProjectLog, startWarnings } from "./observability.ts";
import { closeAll } from "../runtime/scheduler/stopping.ts";
import { createUnconfiguredSkills } from "./agent-directories.ts";
import { createClosingProbe } from "../runtime/runners/host-user/isolation.ts";
import { createPrewarming } from "../runtime/runners/host-user/prewarm-users.ts";
import { watchFiles } from "../foundation/files/watch-files.ts";
import { claimsWithVersions } from "./versions.ts";
import { packageVersion } from "../foundation/version.ts";
import { filterTable } from "../features/webhooks/providers/table.ts";

/** A scheduler that runs. */
export interface Scheduler {
  /** Null when it does not listen on TCP. */
  readonly gatewayUrl: string | null;
  readonly dashboardUrl: string | null;
  /** The link of this start that logs a browser in, as long as it does; null without the dashboard. */
  readonly loginUrl: () => string | null;
  readonly apiKeyPath: string;
  /** The operations of the gateway, for callers in this process. */
  readonly operations: Operations;
  /** Resolves with the exit code once every run ended and everything is written. */
  readonly done: Promise<number>;
  stop(reason: string): void;
  stopNow(): void;
}

/**
 * Runs a project until it is stopped. Rejects with a UserError when the project is broken, held by another
 * scheduler, or can't listen; then nothing is left running or taken. One broken agent is no reason.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { projectDir, env } = options;
  const version = packageVersion();
  const loaded = await loadProject(projectDir, filterTable);
  const onProblem = (msg: string): void =>
    options.log({ level: 40, time: Date.now(), msg, agent: "scheduler" });
  const own = await acquireProject(projectDir, { env, version, onProblem });
  const inputs = createInputs(loaded.project, own.store.settings.paused());
  const { project$ } = inputs;
  const sockets = createRunSockets({
    records: { local: own.store.channels, remote: own.store.remoteRuns },
    redactor: own.redactor,
    onProblem,
  });
  const runs = createLiveRuns({
    elapsed: () => Math.round(performance.now()),
    now: Date.now,
    refusalOf: (instanceId) => own.store.spend.refusal(instanceId),
    freeze: (request) => runtimes.freeze(request),
    thaw: (request) => runtimes.thaw(request),
    openSocket: async ({ instanceId, agent }) =>
      isRemote(agent)
        ? sockets.openRemote(instanceId, runName(instanceId))
        : sockets.open(instanceId, await socketBaseDir(agent)),
  });
  const whyNotClosed = createClosingProbe(env);
  const door = createClusterDoor({ projectDir, project$, sockets, onProblem });
  const logWriter = createProjectLog(projectDir, options.log);
  const brokering = createBrokering({
    projectKey: () => own.store.settings.maskKey(),
    project: () => project$.value,
    credential: modelSources(own).credential,
    whyNotClosed,
  });
  const runtimes = createRuntimes({
    projectDir,
    env,
    own,
    project$,
    runs,
    door,
    clusterEngine: options.clusterEngine ?? null,
    flushLogs: () => logWriter.flush(),
    brokering,
    warn: onProblem,
  });
  try {
    // Before runs are adopted: a start that fails must not end them.
    await checkListening(options, loaded.project);
    const parts = { own, inputs, sockets, door, logWriter, runs, runtimes, brokering };
    return await run({ options, loaded, version, whyNotClosed, ...parts });
  } catch (error) {
    door.close();
    await sockets.close();
    own.close();
    throw error;
  }
}

async function run(context: SchedulerContext): Promise<Scheduler> {
  const { options, loaded, own, inputs, sockets, door, runs, runtimes } = context;
  const { projectDir, env, webUi, onDemand = false } = options;
  const { store } = own;
  const [{ agents, problems, bareSkills, scan }, earlier] = await Promise.all([
    readAgents(projectDir),
    // Most lines are what runs say and use, which is no event.
    latestEntries(projectDir, 5 * keptLogs),
  ]);
  const adopted = await runtimes.adopt(store.openRuns());
  const alive = instancesOf(adopted);
  runs.adoptSockets(await sockets.restore(alive));
  if (onDemand) refuseAdopted(adopted);
  // Not before the sockets are there: the door answers a run that it does not know with the end of that run.
  else await door.open();

  const services = createServices(context, { earlier, agents }, () => subscription.unsubscribe());
  const recovered = await store.recover(alive, services.alerts.onLost);
  const waiting = onDemand ? [] : recovered.requeue;
  const { observability, requests, stopping, http, warn } = services;
  const { logger, status } = observability;
  const files = watchFiles(projectDir, {
    scan,
    problems,
    isAgentName,
    listAgents: () => listAgents(projectDir),
  });
  const skills = createUnconfiguredSkills(projectDir, bareSkills);
  const event$ = buildGraph({
    projectDir,
    onDemand,
    inputs,
    store,
    claim: claimsWithVersions({ projectDir, env, store, project$: inputs.project$, warn }),
    agents,
    touched$: files.agent$,
    onRead: skills.onRead,
    adopted,
    waiting,
    runner: runtimes.runner,
    prepare: runtimes.prepare,
    clock: services.clock,
    slots: services.slots,
    starting: services.starting,
    runs,
    switches: observability.switches,
    budgets: services.budgets,
    stopping,
  });
  const warm = createPrewarming({
    project$: inputs.project$,
    stopping$: inputs.stopping$,
    agents: () => status.agents(),
    prewarm: runtimes.prewarm,
  });

  let exitCode = 0;
  const broke = (why: string): void => {
    exitCode = 1;
    logger.log(60, why);
  };
  const lost = (why: string): void => {
    broke(why);
    stopping.stop("its project is gone");
  };
  const subscription = schedulerEffects(context, services, {
    event$,
    files,
    skills,
    warm,
    lost,
  }).subscribe({
    error: (error: unknown) => broke(`the scheduler broke: ${stackOf(error)}`),
  });
  if (!onDemand) subscription.add(warm.open());
  const done = new Promise<number>((resolve) => {
    const problem = (error: unknown): void => {
      exitCode = 1;
      const msg = `while it closed: ${messageOf(error)}`;
      options.log({ level: 50, time: Date.now(), msg, agent: "scheduler" });
    };
    subscription.add(() => void close(context, services, problem).then(() => resolve(exitCode)));
  });

  try {
    await http.listener.open();
  } catch (error) {
    subscription.unsubscribe();
    await done;
    throw error;
  }
  for (const problem of [...loaded.warnings, ...problems, ...bareSkills.map(bareSkillProblem)])
    warn(problemText(problem));
  for (const message of startWarnings(env, recovered)) warn(message);
  void warnOfNetworks(context, services);
  services.dispatch(waiting);
  requests.restore(alive);
  const { modelCalls: models, egress } = services;
  sockets.serve({
    runApi: requests,
    models,
    egress,
    remote: runtimes.remoteRuns,
    areLogsBehind: () => observability.logWriter.isBehind(),
  });
  stopping.started();
  const gatewayUrl = http.listener.url();
  const hasDashboard = webUi && gatewayUrl !== null;
  return {
    gatewayUrl,
    dashboardUrl: hasDashboard ? `${gatewayUrl}/dashboard` : null,
    loginUrl: hasDashboard ? linkUntilUsed(http.loginLinks, gatewayUrl) : () => null,
    apiKeyPath: own.apiKey.path,
    operations: http.operations,
    done,
    stop: stopping.stop,
    stopNow: () => stopping.stopNow("interrupted again"),
  };
}

/** After the last run: closes everything that is open, the project's lock last. */
function close(
  { own, sockets, door, logWriter, runs, runtimes }: SchedulerContext,
  { stopping, firstEvents, requests, modelCalls, egress, alerts, http, observability }: Services,
  problem: (error: unknown) => void,
): Promise<void> {
  stopping.done();
  firstEvents.end();
  requests.stop();
  const steps = [
    () => runs.removeSockets(),
    () => modelCalls.close(),
    () => egress.close(),
    () => alerts.close(),
    () => runtimes.close(),
    () => door.close(),
    () => sockets.close(),
    () => http.gateway.close(),
    () => observability.search.close(),
    () => logWriter.close(),
    () => own.close(),
  ];
  return closeAll(steps, problem);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? "") : messageOf(error);
}
