import type {
  V1Container,
  V1Job,
  V1PodSpec,
  V1ResourceRequirements,
  V1Secret,
  V1Volume,
  V1VolumeMount,
  KubernetesObject,
} from "@kubernetes/client-node";
import { nodeVariable } from "../../wire/remote-protocol.ts";
import { mountedSocketDir } from "../../wire/protocol.ts";
import { memoryBytes, workDir } from "../../runners/container/container-options.ts";
import { containerUser } from "../../runners/container/image/dockerfile.ts";
import type { Launch } from "../cluster-engine.ts";

/** Folder of a run's ticket. */
const ticketDir = "/run/secrets";
const ticketFile = "al-run";

/** How long a finished Job stays for a scheduler that was away; its runner removes it at once. */
const finishedSeconds = 3_600;
/** Longer than any run. Ends a Job that waits for a machine if no scheduler is left to remove it. */
const deadlineSeconds = 30 * 86_400;
/** How long a drained node gives a run for its stop hooks, in s. */
const terminationSeconds = 30;

export interface RunPlace {
  /** The project's own value for labels. */
  readonly project: string;
  /** Names that a closed run resolves without DNS. */
  readonly hosts: readonly { readonly ip: string; readonly hostnames: string[] }[];
}

/** The Job of a run: one pod, once, created when the Job is no longer suspended. Holds no secrets. */
export function runJob(launch: Launch, place: RunPlace): V1Job {
  const isClosed = launch.limits.network === "none";
  const labels = { [projectLabel]: place.project, [runLabel]: launch.name };
  const annotations = { [agentAnnotation]: launch.agent, [instanceAnnotation]: launch.instanceId };
  const closed: Record<string, string> = isClosed ? { [closedLabel]: place.project } : {};
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: launch.name, labels, annotations },
    spec: {
      suspend: true,
      completions: 1,
      parallelism: 1,
      backoffLimit: 0,
      // Never two at once, even while a node does not answer.
      podReplacementPolicy: "Failed",
      activeDeadlineSeconds: deadlineSeconds,
      ttlSecondsAfterFinished: finishedSeconds,
      template: {
        metadata: { labels: { ...labels, ...closed }, annotations },
        spec: { ...podSpec(launch), ...(isClosed && closedNames(place)) },
      },
    },
  };
}

/** The ticket of a run, which is deleted with its Job. */
export function ticketSecret(launch: Launch, project: string, jobUid: string): V1Secret {
  const owner = { apiVersion: "batch/v1", kind: "Job", name: launch.name, uid: jobUid };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: launch.name,
      labels: { [projectLabel]: project, [runLabel]: launch.name },
      ownerReferences: [owner],
    },
    type: "Opaque",
    immutable: true,
    data: { [ticketFile]: Buffer.from(launch.ticket).toString("base64") },
  };
}

function podSpec(launch: Launch): V1PodSpec {
  const half = Math.floor(memoryBytes(launch.limits.memory) / 2);
  const folders = {
    work: workDir,
    tmp: "/tmp",
    home: containerUser.home,
    socket: mountedSocketDir,
    ...Object.fromEntries(launch.volumes.map((path, n) => [`volume-${n}`, path])),
  };
  const mounts = Object.entries(folders).map(([name, mountPath]) => ({ name, mountPath }));
  return {
    restartPolicy: "Never",
    nodeSelector: Object.fromEntries(launch.place.map(labelOf)),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: terminationSeconds,
    // The pod's own first process takes over orphans, as `--init` does for a container. It keeps a user of its own,
    // so that no run can end it.
    shareProcessNamespace: true,
    securityContext: {
      runAsNonRoot: true,
      fsGroup: containerUser.gid,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [container(launch, mounts)],
    volumes: [ticketVolume(launch.name), ...Object.keys(folders).map((name) => memory(name, half))],
  };
}

function container(launch: Launch, folders: readonly V1VolumeMount[]): V1Container {
  const [file = "", ...args] = launch.command;
  return {
    name: "run",
    image: launch.image,
    imagePullPolicy: "IfNotPresent",
    command: [file],
    args,
    workingDir: workDir,
    env: [...Object.entries(launch.env).map(([name, value]) => ({ name, value })), nodeName],
    resources: resources(launch),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: containerUser.uid,
      runAsGroup: containerUser.gid,
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    // A run that could not begin reports why in its last lines; no client of the API should need its logs.
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [...folders, { name: "ticket", mountPath: ticketDir, readOnly: true }],
  };
}

/** The machine's name, which the run sends with its claim; its host name is the pod's. */
const nodeName = { name: nodeVariable, valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };

function resources({ limits, reserve }: Launch): V1ResourceRequirements {
  const memory = memoryBytes(limits.memory);
  const cpu = milliCpus(limits.cpus);
  return {
    limits: { memory: String(memory), cpu: `${cpu}m` },
    // A reservation beyond the limit is rejected.
    requests: {
      memory: String(Math.min(memory, memoryBytes(reserve.memory))),
      cpu: `${Math.min(cpu, milliCpus(reserve.cpus))}m`,
    },
  };
}

function milliCpus(cpus: number): number {
  return Math.max(1, Math.round(cpus * 1_000));
}

/** Counts as the run's memory. Each folder may hold half of it, so that a full one fails the tool, not the run. */
function memory(name: string, bytes: number): V1Volume {
  return { name, emptyDir: { medium: "Memory", sizeLimit: String(bytes) } };
}

function ticketVolume(secretName: string): V1Volume {
  const items = [{ key: ticketFile, path: ticketFile }];
  return { name: "ticket", secret: { secretName, items, defaultMode: 0o440, optional: false } };
}

/** A name server that does not exist: a closed run can't even ask, with or without an active network policy. */
function closedNames({ hosts }: RunPlace): Partial<V1PodSpec> {
  return {
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["127.0.0.1"] },
    hostAliases: hosts.map(({ ip, hostnames }) => ({ ip, hostnames })),
  };
}

function labelOf(place: string): [string, string] {
  const at = place.indexOf("=");
  return at < 0 ? [place, ""] : [place.slice(0, at), place.slice(at + 1)];
}

/** Labels and annotations that identify the program's own objects in a shared namespace. */
export const projectLabel = "al.project";
export const runLabel = "al.run";
/** The label of pods that reach only the door: the network policy selects it. */
export const closedLabel = "al.closed";
/** Annotations, as the value of a label may be too short for these names. */
const agentAnnotation = "al.agent";
const instanceAnnotation = "al.instance";

/** The run of an object; null for foreign objects. */
export function runOf({ metadata }: KubernetesObject): { name: string; instanceId: string } | null {
  const name = metadata?.labels?.[runLabel];
  const instanceId = metadata?.annotations?.[instanceAnnotation];
  return name === undefined || instanceId === undefined ? null : { name, instanceId };
}
