import { setImmediate } from "node:timers/promises";
import { Subscription } from "rxjs";
import { problemText } from "../../streams/problem-text.ts";
import { filterTable } from "../features/webhooks/providers/table.ts";
import {
  bareSkillProblem,
  isAgentName,
  listAgents,
  readAllAgents,
} from "../foundation/config/agent-files.ts";
import type { AllAgents } from "../foundation/config/agent-files.ts";
import { loadProject, type LoadedProject } from "../foundation/config/resolve-project.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { atTerminalOf, type OperationContext } from "../interfaces/operations/table.ts";
import { messageOf } from "../foundation/errors.ts";
import type { Scan } from "../foundation/files/scan.ts";
import { watchFiles } from "../foundation/files/watch-files.ts";
import { closeAll } from "../foundation/scheduler/stopping.ts";
import { packageVersion } from "../foundation/version.ts";
import { checkListening } from "../interfaces/gateway/listener.ts";
import { linkUntilUsed } from "../interfaces/gateway/login-links.ts";
import { refuseAdopted } from "../runtime/runners/adopt-runs.ts";
import { networkWarnings } from "../runtime/runners/job-network.ts";
import { acquireProject, type ProjectHandle } from "./acquire-project.ts";
import { createUnconfiguredSkills, scanFiles } from "./agent-directories.ts";
import { buildGraph } from "./build-graph.ts";
import { createContext, startWarnings } from "./context.ts";
import { schedulerEffects } from "./scheduler-effects.ts";
import { createServices, type SchedulerOptions, type Services } from "./services.ts";

/** A running scheduler. */
export interface Scheduler {
  /** Null without TCP. */
  readonly gatewayUrl: string | null;
  readonly dashboardUrl: string | null;
  /** The login link of this start, while it is valid; null without the dashboard. */
  readonly loginUrl: () => string | null;
  readonly apiKeyPath: string;
  /** The services of the gateway's operations, and a function that performs one for the person at the terminal. */
  readonly operations: OperationContext & { readonly perform: ReturnType<typeof atTerminalOf> };
  /** Resolves with the exit code once every run ended and everything is written. */
  readonly done: Promise<number>;
  stop(reason: string): void;
  stopNow(): void;
}

/**
 * Runs a project until it is stopped. Rejects with a Problem if the project is broken, held by another scheduler, or
 * can't listen; it then leaves nothing running or locked. A broken agent does not reject it.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { projectDir, env } = options;
  const version = packageVersion();
  const scan = await scanFiles(projectDir);
  const loaded = await loadProject(projectDir, filterTable);
  const { project } = loaded;
  const onProblem = (msg: string): void =>
    options.log({ level: 40, time: Date.now(), msg, agent: "scheduler" });
  const own = await acquireProject(projectDir, { env, version, onProblem });
  const subscription = new Subscription();
  const abort = (): void => subscription.unsubscribe();
  let close: Parts["close"] | undefined;
  try {
    // Done before runs are adopted: a failed start must not end them.
    await checkListening(options, project);
    const [context, found] = await Promise.all([
      createContext({ options, own, project, version, abort }),
      readAllAgents(projectDir),
    ]);
    const services = createServices(context, options, own, found.agents);
    close = closeOnce(own, context, services);
    return await run({ options, scan, loaded, own, found, context, services, subscription, close });
  } catch (error) {
    await (close?.((problem) => onProblem(messageOf(problem))) ?? own.close());
    throw error;
  }
}

interface Parts {
  readonly options: SchedulerOptions;
  /** From before any file was read. */
  readonly scan: Scan;
  readonly loaded: LoadedProject;
  readonly own: ProjectHandle;
  readonly found: AllAgents;
  readonly context: SchedulerContext;
  readonly services: Services;
  /** The subscription to the whole graph. */
  readonly subscription: Subscription;
  /** Closes all resources, the project's lock last, and only once. Never rejects. */
  readonly close: (onProblem: (error: unknown) => void) => Promise<void>;
}

async function run(parts: Parts): Promise<Scheduler> {
  const { options, scan, loaded, own, found, context, services, subscription, close } = parts;
  const { agents, problems, bareSkills } = found;
  const abort = (): void => subscription.unsubscribe();
  const { projectDir, env, onDemand, store, stopping, log, warn } = context;
  const { sockets, door, runs, runtimes, requests, http, telemetry } = services;
  const { modelCalls: models, egress } = services;
  const adopted = await runtimes.adopt(store.openRuns());
  const alive = new Set(adopted.map(({ request }) => request.instanceId));
  // Known before the first of its requests is answered. What a run with a missing credential prints is withheld.
  const references = adopted.flatMap(({ request }) => request.agent.credentials);
  await Promise.allSettled([...new Set(references)].map(context.credential));
  runs.adoptSockets(await sockets.restore(alive));
  if (onDemand) refuseAdopted(adopted);
  // Opened after the sockets exist: the door ends runs that it does not know.
  else await door.open();
  const aliveAt = store.settings.lastAlive() ?? Date.now();
  await telemetry.open();
  const recovered = await store.recover(alive, services.alerts.onLost);
  telemetry.onLost(recovered.lost, aliveAt);
  await services.questions.withdrawAllBut(alive);
  const waiting = onDemand ? [] : recovered.requeue;
  const gathering = onDemand ? [] : store.gatherings.all();
  const files = watchFiles(projectDir, {
    scan,
    problems,
    isAgentName,
    listAgents: () => listAgents(projectDir),
  });
  const skills = createUnconfiguredSkills(projectDir, bareSkills);
  const graph$ = buildGraph(context, services, {
    agents,
    touched$: files.agent$,
    onRead: skills.onRead,
    adopted,
    waiting: [...waiting, ...gathering],
  });

  let exitCode = 0;
  const broke = (why: string): void => {
    exitCode = 1;
    log(60, why);
  };
  const lost = (why: string): void => {
    broke(why);
    stopping.stop("its project is gone");
  };
  const sources = { graph$, files, skills, lost, loaded, own, print: options.log };
  subscription.add(
    schedulerEffects(context, services, sources).subscribe({
      error: (error: unknown) => {
        broke(`the scheduler failed: ${stackOf(error)}`);
        abort();
      },
      complete: abort,
    }),
  );
  const done = new Promise<number>((resolve) => {
    const problem = (error: unknown): void => {
      exitCode = 1;
      const msg = `during shutdown: ${messageOf(error)}`;
      options.log({ level: 50, time: Date.now(), msg, agent: "scheduler" });
    };
    subscription.add(() => void close(problem).then(() => resolve(exitCode)));
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
  void warnOfNetworks(parts);
  context.dispatch(waiting);
  enterHeldWork(context);
  void services.backfills.resume().catch((error: unknown) => warn(messageOf(error)));
  requests.restore(alive);
  sockets.serve({
    runApi: requests,
    models,
    files: services.files,
    egress,
    remote: runtimes.remoteRuns,
    areLogsBehind: () => context.logWriter.isBehind(),
  });
  stopping.started();
  const gatewayUrl = http.listener.url();
  const hasDashboard = options.webUi && gatewayUrl !== null;
  return {
    gatewayUrl,
    dashboardUrl: hasDashboard ? `${gatewayUrl}/dashboard` : null,
    loginUrl: hasDashboard ? linkUntilUsed(http.loginLinks, gatewayUrl) : () => null,
    apiKeyPath: own.apiKey.path,
    operations: { ...http.operationContext, perform: atTerminalOf(http.operationContext) },
    done,
    stop: stopping.stop,
    stopNow: () => stopping.stopNow("interrupted again"),
  };
}

/** Work of a pause that ended while an earlier scheduler ran, which stopped before all of it had entered its queues. */
function enterHeldWork({ inputs: { workPausedAfter$ }, store: { settings } }: SchedulerContext) {
  if (workPausedAfter$.value !== null && !settings.pause().work) workPausedAfter$.next(null);
}

/** Whether a network can be closed is known only after a process has tried it, so the warnings come after the start. */
async function warnOfNetworks({ context, services, subscription }: Parts): Promise<void> {
  const { project$, status, warn } = context;
  await setImmediate();
  const messages = await networkWarnings(status.agents(), project$.value, services.whyNotClosed);
  // The log of a scheduler that has stopped meanwhile is closed.
  if (!subscription.closed) for (const message of messages) warn(message);
}

function closeOnce(
  own: ProjectHandle,
  { stopping, logWriter }: SchedulerContext,
  services: Services,
): Parts["close"] {
  const { runs, modelCalls, egress, alerts, telemetry, door, sockets, http } = services;
  const steps = [
    () => stopping.done(),
    () => services.firstEvents.end(),
    () => services.requests.stop(),
    () => services.questions.stop(),
    () => runs.removeSockets(),
    () => modelCalls.close(),
    () => services.files.close(),
    () => egress.close(),
    () => services.closeGithubTokens(),
    () => alerts.close(),
    () => telemetry.close(),
    () => door.close(),
    () => sockets.close(),
    () => http.gateway.close(),
    () => services.search.close(),
    () => logWriter.close(),
    () => own.close(),
  ];
  let closed: Promise<void> | undefined;
  return (onProblem) => (closed ??= closeAll(steps, onProblem));
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? "") : messageOf(error);
}
