import { randomBytes } from "node:crypto";
import type { StopReason } from "../../streams/outcomes.ts";
import { join } from "node:path";
import { EMPTY, from, switchMap, tap, type Observable } from "rxjs";
import type { Runner } from "../../streams/runs/runner.ts";
import type { AgentConfig, ModelConfig } from "../../streams/agent-config.ts";
import { networkOf } from "../../streams/run-network.ts";
import { runtimes as runtimeTable, type RuntimeType } from "../../streams/runtimes.ts";
import type { BuildEvent, RunRequest } from "../../streams/vocabulary.ts";
import { readSkillFiles } from "../foundation/config/skill-files.ts";
import { proxySecrets } from "../foundation/credentials/redactor.ts";
import { stageCredentials } from "../foundation/credentials/stage-credentials.ts";
import { createLogSource } from "../foundation/logs/log-source.ts";
import { orderChain, withCooldown, type Cooldowns } from "../features/models/chain.ts";
import type { Telemetry } from "../features/telemetry/telemetry.ts";
import { createRecordFiles } from "../runtime/runners/record-files.ts";
import { ownBaseDir } from "../runtime/runners/host-user/base-dir.ts";
import { createHostUserRunner } from "../runtime/runners/host-user/host-user-runner.ts";
import type { OpenRun } from "../foundation/store/recover.ts";
import { deliveriesText, readablePayload } from "../features/webhooks/interpret.ts";
import { adoptRuns, type Adopter } from "../runtime/runners/adopt-runs.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import type { RefusedKeys } from "../runtime/runs/refused-keys.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import type { Memories } from "../features/memory/memory-trees.ts";
import type { Trees } from "../runtime/runs/trees.ts";
import type { ClusterEngine } from "../runtime/cluster/cluster-engine.ts";
import type { ClusterDoor } from "../runtime/cluster/door/cluster-door.ts";
import type { Containers } from "../runtime/runners/container/containers.ts";
import { createInCluster } from "../runtime/cluster/in-cluster.ts";
import type { Brokering } from "../runtime/run-api/egress/broker/brokering.ts";
import { checkCommand } from "../runtime/runs/harness-command.ts";
import { jobNetwork, networkOfRun } from "../runtime/runners/job-network.ts";
import { readScriptFile } from "../features/models/scripted.ts";
import { createSessionStore } from "../features/sessions/session-store.ts";
import { continuedRun } from "../runtime/runs/continued-run.ts";
import { prepareJob } from "../runtime/runs/prepare-job.ts";
import { runAgentProgram, runsDir } from "../runtime/runners/host-user/run-agent-program.ts";

/** How long a stopped run has between TERM and KILL, in ms. */
const graceMs = 5_000;
/** How long a process of this machine has between TERM and KILL, in ms: it must end within a second. */
const hostUserGraceMs = 700;

export interface RuntimePorts {
  readonly runs: LiveRuns;
  readonly door: ClusterDoor;
  readonly brokering: Brokering;
  readonly telemetry: Telemetry;
  readonly refusalOf: RefusedKeys["refusalOf"];
  readonly trees: Trees;
  readonly memories: Memories;
  /** Replaces the engine of `[cluster]`; null for that one. */
  readonly clusterEngine: ClusterEngine | null;
}

/** One runtime. */
interface Runtime extends Runner, Adopter {
  /** Present if its runs start from an image. */
  readonly prepare?: (config: AgentConfig) => Observable<BuildEvent>;
  /** Both are present if it can stop the processes of a waiting run. */
  readonly freeze?: (request: RunRequest) => Promise<void>;
  readonly thaw?: (request: RunRequest) => Promise<void>;
}

/** The runtimes of one scheduler. The client of the container engine is loaded with the first agent that needs it. */
export function createRuntimes(context: SchedulerContext, ports: RuntimePorts) {
  const { projectDir, env, store, redactor, project$, warn } = context;
  const { runs, brokering, telemetry, refusalOf } = ports;
  const sessions = store.tables(createSessionStore);
  let cooldowns: Cooldowns = new Map();
  const network = (agent: AgentConfig) => networkOf(agent, project$.value);
  const sources = {
    credential: context.credential,
    script: readScriptFile,
    refusalOf,
    stage: stageCredentials,
    payload: (receiptId: string) => {
      const receipt = store.receipts.get(receiptId);
      return receipt === null ? null : readablePayload(receipt);
    },
    deliveries: (ids: readonly string[]) =>
      deliveriesText(
        ids.flatMap((id) => store.receipts.get(id) ?? []),
        project$.value.webhooks,
      ),
    orderModels: (models: readonly ModelConfig[]) => orderChain(models, cooldowns, Date.now()),
    network: async (agent: AgentConfig) => {
      const ofScheduler = await jobNetwork(env, warn);
      redactor.add(proxySecrets(ofScheduler));
      return networkOfRun(ofScheduler, network(agent), agent.runtime);
    },
    broker: brokering.forRun,
    continued: (request: RunRequest) => continuedRun(request, sessions, store.runs),
    traceparent: telemetry.traceparent,
    trees: ports.trees.of,
    memory: ports.memories.jobOf,
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
    redactorFor: () => redactor.redact,
  };
  const controlDir = ({ instanceId }: RunRequest) => runs.find(instanceId)?.socket?.dir ?? null;
  const withReason = ({ instanceId }: RunRequest, stop$: Observable<StopReason>) =>
    stop$.pipe(tap((reason) => runs.find(instanceId)?.writeStopReason(reason)));
  const records = createRecordFiles<AgentConfig>(join(projectDir, ".al", "run", "containers"));
  let loading: Promise<Containers> | undefined;
  const containers = (): Promise<Containers> =>
    (loading ??= import("../runtime/runners/container/containers.ts").then((edge) =>
      edge.createContainers(context, { ...shared, records, controlDir }),
    ));
  const loaded = <T>(use: (loaded: Containers) => Observable<T>) =>
    from(containers()).pipe(switchMap(use));
  const inContainer: Runtime = {
    run: (request, stop$) => loaded(({ runner }) => runner.run(request, stop$)),
    resume: (run, stop$) => loaded(({ runner }) => runner.resume(run, stop$)),
    // Without a record no container of a run is left, and the engine need not be asked.
    adopt: async (instanceIds) =>
      (await records.list()).length === 0 ? [] : (await containers()).adopt(instanceIds),
    freeze: async (request) => (await containers()).freeze(request),
    thaw: async (request) => (await containers()).thaw(request),
    prepare: (config) => loaded((edge) => edge.prepare(config)),
  };
  const inCluster = createInCluster(context, ports, shared);
  const hostUser = createHostUserRunner({
    ...shared,
    runAgent: (agent) => runAgentProgram(agent, projectDir),
    network,
    graceMs: hostUserGraceMs,
    projectDir,
    baseDir: runsDir,
    env,
    compileCache: join(context.home, "cache", "node"),
  });
  const runners: Readonly<Record<RuntimeType, Runtime>> = {
    "host-user": hostUser,
    container: inContainer,
    cluster: inCluster,
  };
  return {
    runner: {
      run: (request, stop$) =>
        runners[request.agent.runtime.type].run(request, withReason(request, stop$)),
    } satisfies Runner,
    /** Prepares the resources that a config needs before its agent runs. */
    prepare: (config: AgentConfig) => runners[config.runtime.type].prepare?.(config) ?? EMPTY,
    /** Responds to runs on other machines. */
    remoteRuns: inCluster.remoteRuns,
    /** Adopts the runs of an earlier scheduler that still live. */
    adopt: (open: readonly OpenRun[]) => {
      const runtimes = Object.values(runners).map((runtime): Adopter => ({
        ...runtime,
        resume: (run, stop$) => runtime.resume(run, withReason(run.request, stop$)),
      }));
      return adoptRuns(open, runtimes, createLogSource(projectDir));
    },
    /** Stops a waiting run, if its runtime can. */
    freeze: async (request: RunRequest): Promise<void> =>
      runners[request.agent.runtime.type].freeze?.(request),
    thaw: async (request: RunRequest): Promise<void> =>
      runners[request.agent.runtime.type].thaw?.(request),
  };
}

/** The folder of the sockets of runs in containers: no other user can enter it, the engine mounts its content. */
const containersDir = `/tmp/al-channels-${process.getuid?.() ?? 0}`;

/** Whether an agent's runs are on other machines. */
export function isRemote({ runtime }: AgentConfig): boolean {
  return runtimeTable[runtime.type].isRemote;
}

/**
 * The existing folder for the socket of an agent's run on this machine. A scheduler in a container names one by
 * `AL_SOCKETS` that has the same path on the engine's machine, because the engine mounts paths of its own machine.
 */
export async function socketBaseDir(
  { runtime }: AgentConfig,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  if (!runtimeTable[runtime.type].isolates) return runsDir;
  const dir = env.AL_SOCKETS || containersDir;
  await ownBaseDir(dir, false);
  return dir;
}

const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** `<agent>-<8 random base32 characters>`. */
export function newInstanceId(agent: string): string {
  const characters = [...randomBytes(8)].map((byte) => base32.charAt(byte % 32));
  return `${agent}-${characters.join("")}`;
}
