import type { ContainerCreateOptions } from "dockerode";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { mountedSocketDir } from "../../../foundation/contracts/run-api.ts";
import { command, containerUser } from "./image/dockerfile.ts";
import { agentLabel, containerName, instanceLabel, projectId, projectLabel } from "./labels.ts";

/** What a container may use: `[local]` of the agent, else of the project. */
export interface ContainerLimits {
  /** A number with b, k, m or g, such as `4g`. */
  readonly memory: string;
  readonly cpus: number;
  /** `bridge`, `none` or a network's name. */
  readonly network: string;
}

export interface ContainerSpec {
  readonly request: RunRequest;
  readonly projectDir: string;
  readonly image: string;
  /** Folders that the image declares as volumes. */
  readonly volumes: readonly string[];
  readonly limits: ContainerLimits;
  /** Program and arguments; null for the run's own command. */
  readonly command: { readonly file: string; readonly args: readonly string[] } | null;
  /** Absolute folder on the host that the run sees at `/run/al`, read-only; null for none. */
  readonly controlDir: string | null;
}

/** The run's working directory inside the container. */
export const workDir = "/workspace";

/** Enough for builds and test suites, too few for a fork bomb to be felt. */
export const pidsLimit = 512;
export const nanosPerCpu = 1_000_000_000;
/** A quarter of a container's usual share when processor time is scarce: the scheduler answers first. */
const cpuShares = 256;

/**
 * Everything that a run's container is created with. Nothing secret is among it, as every client of the engine
 * can read it: the job goes over standard input.
 */
export function containerOptions(spec: ContainerSpec): ContainerCreateOptions {
  const { request, projectDir, image, volumes, limits, controlDir } = spec;
  const { agent, instanceId } = request;
  const { file, args } = spec.command ?? {
    file: command,
    args: ["_run-agent", agent.name, "--project", workDir],
  };
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
    // Not once: a scheduler that crashes must not end the runs that its successor adopts.
    StdinOnce: false,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...isolation(limits, volumes),
      Mounts: controlDir === null ? [] : [mount(controlDir)],
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

/** An agent's own limits go before the project's. */
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

/** What every run's container is held to, with these folders in memory as `/tmp` is. */
export function isolation(
  { memory, cpus, network }: ContainerLimits,
  volumes: readonly string[] = [],
) {
  const bytes = memoryBytes(memory);
  const { uid, gid, home } = containerUser;
  // Tools and scripts that an agent fetches must run. What is in these folders counts as the run's memory; half
  // of it a folder, so that a full one is an error of the tool and not yet the end of the run.
  const writable = `rw,exec,nosuid,nodev,size=${Math.floor(bytes / 2)}`;
  const own = `${writable},uid=${uid},gid=${gid},mode=0700`;
  return {
    Memory: bytes,
    // The same number: no swap.
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
    // Its exit code is read after it ended; the runner removes it then.
    AutoRemove: false,
    // What a scheduler that comes back reads, whatever the engine's own default is.
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
