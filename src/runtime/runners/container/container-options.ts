import { posix } from "node:path";
import type { ContainerCreateOptions } from "dockerode";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { mountedSocketDir } from "../../wire/protocol.ts";
import { command, containerUser } from "./image/dockerfile.ts";
import { agentLabel, containerName, instanceLabel, projectId, projectLabel } from "./labels.ts";
import type { RunnerOptions } from "../runner-options.ts";
import type { Engine } from "./engine.ts";
import { inspectImage } from "./image/engine-images.ts";
import type { AgentImages } from "./images.ts";
import type { RecordFiles } from "../record-files.ts";

/** Limits of a container: `[local]` of the agent, else of the project. */
export interface ContainerLimits {
  /** A number with b, k, m or g, such as `4g`. */
  readonly memory: string;
  readonly cpus: number;
  /** `bridge`, `none` or a network's name. */
  readonly network: string;
}

/** The run's working directory inside the container. */
export const workDir = "/workspace";

/** Enough for builds and test suites, and too few for a harmful fork bomb. */
export const pidsLimit = 512;
export const nanosPerCpu = 1_000_000_000;
/** A quarter of a container's default share if processor time is scarce: the scheduler answers first. */
const cpuShares = 256;

/**
 * The options of a run's container; `volumes` are the folders that its image declares. They hold no secrets, as every
 * client of the engine can read them: the job is sent over standard input.
 */
export function containerOptions(
  request: RunRequest,
  image: string,
  volumes: readonly string[],
  { projectDir, local, command: ownCommand, controlDir }: ContainerRunnerOptions,
): ContainerCreateOptions {
  const { agent, instanceId } = request;
  const { file, args } = ownCommand?.(request) ?? {
    file: command,
    args: ["_run-agent", agent.name, "--project", workDir],
  };
  const mounted = controlDir?.(request) ?? null;
  return {
    name: containerName(projectDir, instanceId),
    Image: image,
    Entrypoint: [file],
    Cmd: [...args],
    User: `${containerUser.uid}:${containerUser.gid}`,
    WorkingDir: workDir,
    Hostname: instanceId.slice(0, 63),
    Env: Object.entries(runEnvironment(request)).map(([name, value]) => `${name}=${value}`),
    Labels: {
      [projectLabel]: projectId(projectDir),
      [agentLabel]: agent.name,
      [instanceLabel]: instanceId,
    },
    OpenStdin: true,
    // Standard input stays open without a client: a dead scheduler must not end the runs that its successor adopts.
    StdinOnce: false,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...isolation(limitsOf(agent, local()), volumes),
      Mounts: mounted === null ? [] : [mount(mounted)],
    },
  };
}

/** The variables of a run in an image of the program. */
export function runEnvironment({ agent, instanceId }: RunRequest): Record<string, string> {
  return {
    HOME: containerUser.home,
    USER: containerUser.name,
    LANG: "C.UTF-8",
    TZ: agent.timezone,
    AL_INSTANCE: instanceId,
  };
}

/** An agent's own limits override the project's. */
export function limitsOf(
  { local }: RunRequest["agent"],
  project: ContainerLimits,
): ContainerLimits {
  return {
    memory: local.memory ?? project.memory,
    cpus: local.cpus ?? project.cpus,
    network: local.network ?? project.network,
  };
}

/** The limits of every run's container, with these folders in memory like `/tmp`. */
export function isolation(
  { memory, cpus, network }: ContainerLimits,
  volumes: readonly string[] = [],
) {
  const bytes = memoryBytes(memory);
  const { uid, gid, home } = containerUser;
  // Tools and scripts fetched by an agent must be executable. Files in these folders count as the run's memory; each
  // folder may hold half of it, so that a full one fails the tool and not the run.
  const writable = `rw,exec,nosuid,nodev,size=${Math.floor(bytes / 2)}`;
  const own = `${writable},uid=${uid},gid=${gid},mode=0700`;
  return {
    Memory: bytes,
    // The same number as the memory limit: no swap.
    MemorySwap: bytes,
    NanoCpus: Math.round(cpus * nanosPerCpu),
    CpuShares: cpuShares,
    PidsLimit: pidsLimit,
    ReadonlyRootfs: true,
    Tmpfs: {
      ...Object.fromEntries(["/tmp", ...volumes].map((path) => [path, `${writable},mode=1777`])),
      [workDir]: own,
      [home]: own,
    },
    SecurityOpt: ["no-new-privileges"],
    CapDrop: ["ALL"],
    Privileged: false,
    Init: true,
    NetworkMode: network,
    IpcMode: "private",
    RestartPolicy: { Name: "no" },
    // The exit code is read after the end of the container, which the runner then removes.
    AutoRemove: false,
    // A restarted scheduler reads the output from this log, whatever the engine's default is.
    LogConfig: { Type: "json-file", Config: { "max-size": "64m", "max-file": "1" } },
  };
}

function mount(source: string) {
  return { Type: "bind" as const, Source: source, Target: mountedSocketDir, ReadOnly: true };
}

const units: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `512m` in bytes; a number without a unit is bytes, as for the engine's own command line. */
export function memoryBytes(memory: string): number {
  const unit = units[memory.slice(-1).toLowerCase()];
  return Math.floor(unit === undefined ? Number(memory) : Number(memory.slice(0, -1)) * unit);
}

export interface ContainerRunnerOptions extends RunnerOptions {
  readonly engine: Engine;
  readonly images: AgentImages;
  /** The active `[local]`. */
  readonly local: () => ContainerLimits;
  /** The config that started each run; not in a label, which every client of the engine could read. */
  readonly records: RecordFiles<AgentConfig>;
  /** How long to wait for an engine that went away during a run, in ms. */
  readonly engineGraceMs?: number;
  /** Host folder of a run's control socket, mounted at `/run/al`; null for none. */
  readonly controlDir?: (request: RunRequest) => string | null;
  /** Runs in the container instead of `al _run-agent`. */
  readonly command?: (request: RunRequest) => {
    readonly file: string;
    readonly args: readonly string[];
  };
}

const inEachRun: ReadonlySet<string> = new Set([
  "/tmp",
  workDir,
  containerUser.home,
  mountedSocketDir,
]);

/**
 * The folders that the image declares as volumes, except those of every run. By default the engine would give them
 * unlimited space on its disk: they must be folders in memory.
 */
export async function declaredVolumes(engine: Engine, image: string): Promise<readonly string[]> {
  const { volumes = [] } = (await inspectImage(engine, image)) ?? {};
  const declared = new Set(volumes.map((path) => posix.resolve("/", path)));
  return [...declared].filter((path) => !inEachRun.has(path));
}
