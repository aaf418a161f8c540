import type { ContainerSpec, MountSettings, ServiceSpec } from "dockerode";
import { nodeVariable } from "../../../foundation/contracts/remote-run.ts";
import {
  memoryBytes,
  nanosPerCpu,
  pidsLimit,
  workDir,
} from "../../runners/container/container-options.ts";
import { containerUser } from "../../runners/container/image/dockerfile.ts";
import { agentLabel, instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import type { Launch } from "../cluster-engine.ts";
import { tmpfsOptions, writableFolders } from "../writable-folders.ts";
import type { WritableFolder } from "../writable-folders.ts";
import { networkNames } from "./swarm-networks.ts";

/** The file of a run's ticket, below /run/secrets. */
const secretFile = "al-run";

/** A node that is drained gives the run's last hooks and lines this long, in ns; a removed run ends itself at once. */
const stopGraceNs = 10_000_000_000;

/** What Swarm puts in for it is the name of the task's node. */
const nodeTemplate = "{{.Node.Hostname}}";

const restartDelayNs = 1_000_000_000;

export interface RunServiceOptions {
  /** Tells the project from others, also of other machines. */
  readonly project: string;
  /** Id of the secret with its ticket. */
  readonly secretId: string;
}

/**
 * A run as a service of one task. Not as a replicated job: with Docker before 24 the container of a job that is removed
 * runs on (moby/swarmkit#3112), and newer ones repeat jobs after each change of the leader (moby/moby#53632). A task
 * that fails is made again, if need be on another node, as its node may have failed before the run began; a ticket is
 * worth one claim, so that each further process of a run that did begin ends itself. Nothing secret is in here, as every
 * client of the engine can read it.
 */
export function runService(launch: Launch, options: RunServiceOptions): ServiceSpec {
  const { limits, reserve, place } = launch;
  return {
    Name: launch.name,
    Labels: labelsOf(launch, options.project),
    Mode: { Replicated: { Replicas: 1 } },
    // No address of the service itself, which would be one more for each run.
    EndpointSpec: { Mode: "dnsrr" },
    TaskTemplate: {
      ContainerSpec: containerSpec(launch, options),
      RestartPolicy: { Condition: "on-failure", MaxAttempts: 2, Delay: restartDelayNs },
      Placement: { Constraints: [...place] },
      Resources: {
        Limits: {
          MemoryBytes: memoryBytes(limits.memory),
          NanoCPUs: nanos(limits.cpus),
          Pids: pidsLimit,
        },
        // More than the limit is refused by the engine.
        Reservations: {
          MemoryBytes: Math.min(memoryBytes(reserve.memory), memoryBytes(limits.memory)),
          NanoCPUs: Math.min(nanos(reserve.cpus), nanos(limits.cpus)),
        },
      },
      Networks: networksOf(launch, options.project),
      LogDriver: { Name: "json-file", Options: { "max-size": "1m", "max-file": "1" } },
    },
  };
}

/** The labels by which runs and their secrets are found again. */
export function labelsOf({ agent, instanceId }: Launch, project: string) {
  return {
    [projectLabel]: project,
    [agentLabel]: agent,
    [instanceLabel]: instanceId,
  };
}

const nanos = (cpus: number) => Math.round(cpus * nanosPerCpu);

function containerSpec(launch: Launch, { secretId, project }: RunServiceOptions): ContainerSpec {
  const { name, image, command, env, limits } = launch;
  const { uid, gid } = containerUser;
  return {
    Image: image,
    // For `docker container prune` on its node: a power cut can leave containers that Swarm has forgotten.
    Labels: { [projectLabel]: project },
    // Swarm has no option for it before API 1.44, which is Docker 25.
    Command: ["setpriv", "--no-new-privs", ...command],
    Hostname: launch.instanceId.slice(0, 63),
    User: `${uid}:${gid}`,
    Dir: workDir,
    Env: Object.entries({ ...env, [nodeVariable]: nodeTemplate }).map(
      ([variable, value]) => `${variable}=${value}`,
    ),
    ReadOnly: true,
    Init: true,
    CapabilityDrop: ["ALL"],
    StopGracePeriod: stopGraceNs,
    HealthCheck: { Test: ["NONE"] },
    Mounts: writableFolders(launch).map((folder) => mountOf(folder, project)),
    Secrets: [
      {
        SecretID: secretId,
        SecretName: name,
        File: { Name: secretFile, UID: String(uid), GID: String(gid), Mode: 0o400 },
      },
    ],
    // Names of the closed network are answered before it is asked; no other name has an answer.
    ...(limits.network === "none" && { DNSConfig: { Nameservers: ["127.0.0.1"] } }),
  };
}

/**
 * Swarm's own mounts of type tmpfs are root's and `noexec`. For a volume with options each node also makes one more
 * that it never uses or removes; by the label `docker volume prune` finds those.
 */
function mountOf(folder: WritableFolder, project: string): MountSettings {
  const { path, bytes, mode, isForPrograms } = folder;
  const place = { Source: "", Target: path };
  if (!isForPrograms) {
    const options = { SizeBytes: bytes, Mode: Number.parseInt(mode, 8) };
    return { ...place, Type: "tmpfs", TmpfsOptions: options };
  }
  const options = { type: "tmpfs", device: "tmpfs", o: tmpfsOptions(folder) };
  const volume = {
    NoCopy: true,
    Labels: { [projectLabel]: project },
    DriverConfig: { Name: "local", Options: options },
  };
  return { ...place, Type: "volume", VolumeOptions: volume };
}

/** Without a network of its own a task is in the `bridge` of its node. */
function networksOf({ limits: { network } }: Launch, project: string) {
  if (network === "bridge") return [];
  return [{ Target: network === "none" ? networkNames(project).closed : network }];
}
