import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { EMPTY, from, switchMap, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { Runner, StopReason } from "../../streams/runs/runner.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import { networkOf } from "../../streams/run-network.ts";
import { runtimes as runtimeTable } from "../../streams/runtimes.ts";
import type { RuntimeType } from "../../streams/runtimes.ts";
import type { BuildEvent, RunRequest } from "../../streams/vocabulary.ts";
import { readSkillFiles } from "../foundation/config/skill-files.ts";
import { proxySecrets } from "../foundation/credentials/job-redactor.ts";
import { stageCredentials } from "../foundation/credentials/stage-credentials.ts";
import type { RemoteRuns } from "../foundation/contracts/remote-run.ts";
import { createLogSource } from "../foundation/logs/log-source.ts";
import { orderChain, withCooldown } from "../features/models/chain.ts";
import type { Cooldowns } from "../features/models/chain.ts";
import { createRunRecords } from "../runtime/runners/container/run-records.ts";
import { ownBaseDir } from "../runtime/runners/host-user/base-dir.ts";
import { createHostUserRunner } from "../runtime/runners/host-user/host-user-runner.ts";
import type { HostUserRunner } from "../runtime/runners/host-user/host-user-runner.ts";
import { runnerFor } from "../runtime/runners/rejecting.ts";
import type { OpenRun } from "../foundation/store/recover.ts";
import { readablePayload } from "../features/webhooks/readable-payload.ts";
import { adoptRuns } from "../runtime/runners/adopt-runs.ts";
import type { Adopter } from "../runtime/runners/adopt-runs.ts";
import type { ClusterContext } from "./cluster.ts";
import type { Containers } from "./containers.ts";
import { createInCluster } from "./in-cluster.ts";
import type { Brokering } from "./brokering.ts";
import { checkCommand } from "../runtime/harness/harness-command.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import { jobNetwork, networkOfRun } from "../runtime/runners/job-network.ts";
import { modelSources } from "./model-calls.ts";
import { prepareJob } from "./prepare-job.ts";
import type { JobSources } from "./prepare-job.ts";
import { runAgentProgram, runsDir } from "../runtime/runners/host-user/run-agent-program.ts";

/** A stopped run has this long between TERM and KILL, in ms. */
const graceMs = 5_000;
/** A process of this machine is to be gone within a second, in ms. */
const hostUserGraceMs = 700;

export interface RuntimesContext extends ClusterContext {
  readonly own: ProjectHandle;
  readonly brokering: Pick<Brokering, "forRun">;
  readonly warn: (message: string) => void;
}

/** One runtime. */
interface Runtime extends Runner, Adopter {
  /** There when its runs start from an image. */
  readonly prepare?: (config: AgentConfig) => Observable<BuildEvent>;
  /** Both are there when it can stop the processes of a run that waits. */
  readonly freeze?: (request: RunRequest) => Promise<void>;
  readonly thaw?: (request: RunRequest) => Promise<void>;
}

/** How agents run, whatever their runtime. */
export interface Runtimes {
  readonly runner: Runner;
  /** Makes ready what a config needs before its agent runs. */
  readonly prepare: (config: AgentConfig) => Observable<BuildEvent>;
  /** Adopts the runs of an earlier scheduler that still live. */
  readonly adopt: (open: readonly OpenRun[]) => Promise<readonly AdoptedRun[]>;
  /** What runs on other machines ask for. */
  readonly remoteRuns: RemoteRuns;
  /** After the last run: ends connections to engines. */
  close(): void;
  /** Stops a run that only waits, where its runtime can; the other starts it again. */
  readonly freeze: (request: RunRequest) => Promise<void>;
  readonly thaw: (request: RunRequest) => Promise<void>;
  /** Keeps so many processes prewarmed of each of these kinds, and none of others. */
  readonly prewarm: HostUserRunner["prewarm"];
}

/** The runtimes of one scheduler. What talks to the container engine is loaded with the first agent that needs it. */
export function createRuntimes(context: RuntimesContext): Runtimes {
  const { projectDir, env, own, runs } = context;
  let cooldowns: Cooldowns = new Map();
  const network = (agent: AgentConfig) => networkOf(agent, context.project$.value);
  const sources = {
    ...jobSources(own, () => cooldowns),
    network: async (agent: AgentConfig) => {
      const ofScheduler = await jobNetwork(env, context.warn);
      own.redactor.add(proxySecrets(ofScheduler));
      return networkOfRun(ofScheduler, network(agent), agent.runtime);
    },
    broker: context.brokering.forRun,
    files: (agent: string) => readSkillFiles(projectDir, agent),
    checkCommand: (agent: AgentConfig) => checkCommand(agent, env),
    channel: async ({ instanceId }: RunRequest) =>
      (await runs.find(instanceId)?.openSocket()) ?? null,
  };
  const shared = {
    prepare: (request: RunRequest, workDir: string) => prepareJob(request, workDir, sources),
    begin: async ({ instanceId }: RunRequest) => runs.find(instanceId)?.begin(),
    graceMs,
    onCooldown: (model: string, until: number) => {
      cooldowns = withCooldown(cooldowns, model, until, Date.now());
    },
    redactorFor: () => own.redactor.redact,
  };
  const controlDir = ({ instanceId }: RunRequest) => runs.find(instanceId)?.socket?.dir ?? null;
  const withReason = ({ instanceId }: RunRequest, stop$: Observable<StopReason>) =>
    stop$.pipe(tap((reason) => runs.find(instanceId)?.writeStopReason(reason)));
  const records = createRunRecords(join(projectDir, ".al", "run", "containers"));
  let loading: Promise<Containers> | undefined;
  const containers = (): Promise<Containers> =>
    (loading ??= import("./containers.ts").then((edge) =>
      edge.createContainers(context, { ...shared, records, controlDir }),
    ));
  const inContainer: Runtime = {
    run: (request, stop$) =>
      from(containers()).pipe(switchMap(({ runner }) => runner.run(request, stop$))),
    resume: (run, stop$) =>
      from(containers()).pipe(switchMap(({ runner }) => runner.resume(run, stop$))),
    // Without a record nothing is left of a run in a container, and the engine need not be asked.
    adopt: async (instanceIds) =>
      (await records.list()).length === 0 ? [] : (await containers()).adopt(instanceIds),
    freeze: async (request) => (await containers()).freeze(request),
    thaw: async (request) => (await containers()).thaw(request),
    prepare: (config) => from(containers()).pipe(switchMap((edge) => edge.prepare(config))),
  };
  const inCluster = createInCluster(context, shared);
  const hostUser = createHostUserRunner({
    ...shared,
    runAgent: (agent) => runAgentProgram(agent, projectDir),
    network,
    graceMs: hostUserGraceMs,
    projectDir,
    baseDir: runsDir,
    env,
    compileCache: join(own.home, "cache", "node"),
  });
  const runners: Readonly<Record<RuntimeType, Runtime>> = {
    "host-user": hostUser,
    container: inContainer,
    cluster: inCluster,
  };
  const runner = runnerFor(runners);
  return {
    runner: {
      run: (request, stop$) => runner.run(request, withReason(request, stop$)),
    },
    prepare: (config) => runners[config.runtime.type].prepare?.(config) ?? EMPTY,
    remoteRuns: inCluster.remoteRuns,
    close: () => inCluster.close(),
    adopt: (open) => {
      const runtimes = Object.values(runners).map((runtime): Adopter => ({
        ...runtime,
        resume: (run, stop$) => runtime.resume(run, withReason(run.request, stop$)),
      }));
      return adoptRuns(open, { runtimes, logs: createLogSource(projectDir) });
    },
    freeze: async (request) => runners[request.agent.runtime.type].freeze?.(request),
    thaw: async (request) => runners[request.agent.runtime.type].thaw?.(request),
    prewarm: (kinds, each) => hostUser.prewarm(kinds, each),
  };
}

function jobSources(
  own: ProjectHandle,
  cooldowns: () => Cooldowns,
): Omit<JobSources, "channel" | "files" | "network" | "broker" | "checkCommand"> {
  return {
    ...modelSources(own),
    stage: stageCredentials,
    payload: (receiptId) => {
      const receipt = own.store.receipts.get(receiptId);
      return receipt === null ? null : readablePayload(receipt);
    },
    orderModels: (models) => orderChain(models, cooldowns(), Date.now()),
  };
}

/** Where the sockets of runs in containers are: no other user can enter it, the engine mounts what is in it. */
const containersDir = `/tmp/al-channels-${process.getuid?.() ?? 0}`;

/** Whether an agent's runs are on other machines. */
export function isRemote({ runtime }: AgentConfig): boolean {
  return runtimeTable[runtime.type].isRemote;
}

/** The existing folder for the socket of an agent's run on this machine. */
export async function socketBaseDir({ runtime }: AgentConfig): Promise<string> {
  if (!runtimeTable[runtime.type].isolates) return runsDir;
  await ownBaseDir(containersDir, false);
  return containersDir;
}

const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** `<agent>-<8 random base32 characters>`. */
export function newInstanceId(agent: string): string {
  const characters = [...randomBytes(8)].map((byte) => base32.charAt(byte % 32));
  return `${agent}-${characters.join("")}`;
}
