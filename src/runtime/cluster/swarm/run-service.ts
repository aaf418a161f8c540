import type { ContainerSpec, MountSettings, ServiceSpec } from "dockerode";
import { nodeVariable } from "../../wire/remote-protocol.ts";
import {
  isolation,
  memoryBytes,
  nanosPerCpu,
  pidsLimit,
  workDir,
} from "../../runners/container/container-options.ts";
import { containerUser } from "../../runners/container/image/dockerfile.ts";
import { agentLabel, instanceLabel, projectLabel } from "../../runners/container/labels.ts";
import { mountedSocketDir } from "../../wire/protocol.ts";
import type { Launch } from "../cluster-engine.ts";

/** The network of a project's closed runs, which contains the relay and has no way out. */
export const closedNetwork = (project: string) => `al-${project.slice(0, 8)}`;

export const smallLog = { "max-size": "1m", "max-file": "1" };
/** Names of the closed network are answered before it is asked; no other name has an answer. */
const noDns = ["127.0.0.1"];

/** The file of a run's ticket, below /run/secrets. */
const secretFile = "al-run";

/** A drained node gives the run's last hooks and lines this long, in ns; a removed run ends itself at once. */
const stopGraceNs = 10_000_000_000;

/** Swarm replaces this template with the name of the task's node. */
const nodeTemplate = "{{.Node.Hostname}}";

const restartDelayNs = 1_000_000_000;
const socketDirBytes = 1024 * 1024;

/** The labels that identify a run. */
export function labelsOf({ agent, instanceId }: Launch, project: string): Record<string, string> {
  return { [projectLabel]: project, [agentLabel]: agent, [instanceLabel]: instanceId };
}

/**
 * A run as a service of one task. Not as a replicated job: with Docker before 24 the container of a removed job keeps
 * running (moby/swarmkit#3112), and newer ones repeat jobs after each change of the leader (moby/moby#53632). A failed
 * task is created again, perhaps on another node, as its node may have failed before the run began; a ticket is valid
 * for one claim, so each further process of a run that did begin ends itself. It holds no secret, as every client of the
 * engine can read it.
 */
export function runService(launch: Launch, project: string, secretId: string): ServiceSpec {
  const { limits, reserve, place } = launch;
  return {
    Name: launch.name,
    Labels: labelsOf(launch, project),
    Mode: { Replicated: { Replicas: 1 } },
    // The service has no address of its own, which would be one more for each run.
    EndpointSpec: { Mode: "dnsrr" },
    TaskTemplate: {
      ContainerSpec: containerSpec(launch, project, secretId),
      RestartPolicy: { Condition: "on-failure", MaxAttempts: 2, Delay: restartDelayNs },
      Placement: { Constraints: [...place] },
      Resources: {
        Limits: {
          MemoryBytes: memoryBytes(limits.memory),
          NanoCPUs: nanos(limits.cpus),
          Pids: pidsLimit,
        },
        // The engine rejects more than the limit.
        Reservations: {
          MemoryBytes: Math.min(memoryBytes(reserve.memory), memoryBytes(limits.memory)),
          NanoCPUs: Math.min(nanos(reserve.cpus), nanos(limits.cpus)),
        },
      },
      Networks: networksOf(launch, project),
      LogDriver: { Name: "json-file", Options: smallLog },
    },
  };
}

const nanos = (cpus: number) => Math.round(cpus * nanosPerCpu);

function containerSpec(launch: Launch, project: string, secretId: string): ContainerSpec {
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
    Mounts: mountsOf(launch, project),
    Secrets: [
      {
        SecretID: secretId,
        SecretName: name,
        File: { Name: secretFile, UID: String(uid), GID: String(gid), Mode: 0o400 },
      },
    ],
    ...(limits.network === "none" && { DNSConfig: { Nameservers: noDns } }),
  };
}

/**
 * The in-memory folders of containers on this machine, and one for the run's socket. Swarm's own tmpfs mounts belong to
 * root and are `noexec`. For a volume with options each node also creates one that it never uses or removes; `docker
 * volume prune` finds those by the label.
 */
function mountsOf({ limits, volumes }: Launch, project: string): MountSettings[] {
  const folders = Object.entries(isolation(limits, volumes).Tmpfs).map(([path, o]) => ({
    Source: "",
    Target: path,
    Type: "volume" as const,
    VolumeOptions: {
      NoCopy: true,
      Labels: { [projectLabel]: project },
      DriverConfig: { Name: "local", Options: { type: "tmpfs", device: "tmpfs", o } },
    },
  }));
  const TmpfsOptions = { SizeBytes: socketDirBytes, Mode: 0o1777 };
  return [...folders, { Source: "", Target: mountedSocketDir, Type: "tmpfs", TmpfsOptions }];
}

/** Without its own network a task is in the `bridge` of its node. */
function networksOf({ limits: { network } }: Launch, project: string) {
  if (network === "bridge") return [];
  return [{ Target: network === "none" ? closedNetwork(project) : network }];
}
