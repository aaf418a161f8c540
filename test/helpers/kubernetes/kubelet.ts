import { wireTime } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { placePod } from "./nodes.ts";
import type { Node } from "./nodes.ts";
import { startPodProgram } from "./start-pod-program.ts";
import type { PodEnd, PodProgram, StartProgram } from "./pod-program.ts";
import type { Condition, Pod, PodStatus } from "./wire-types.ts";

export interface KubeletOptions {
  readonly store: ObjectStore;
  readonly nodes: readonly Node[];
  readonly start: StartProgram;
  /** Whether an image can be had; a pull takes `pullMs`. */
  readonly hasImage: (image: string) => boolean;
  /** Between two tries to pull an image, to mount a secret and to place a pod. */
  readonly retryMs: number;
  readonly isStopped: () => boolean;
}

interface PodOnNode {
  program: PodProgram | null;
  log: string;
}

const defaultGraceSeconds = 30;

/** The cluster's scheduler and its nodes: places pods, starts their programs, and reports how they are. */
export function runPods(options: KubeletOptions) {
  const { store, nodes, start, hasImage, retryMs, isStopped } = options;
  /** By uid. */
  const local = new Map<string, PodOnNode>();
  const podOf = (name: string) => store.get("pods", name) as Pod | undefined;
  const again = (name: string) => {
    setTimeout(() => advance(name), retryMs).unref();
  };

  store.onChange(({ type, resource, object }) => {
    if (resource !== "pods" || isStopped()) return;
    if (type === "ADDED") setImmediate(() => advance(object.metadata.name));
    if (type === "DELETED") local.get(object.metadata.uid)?.program?.kill();
  });

  /** One step of a pod on its way to run; each comes again until it succeeds. */
  function advance(name: string): void {
    const pod = podOf(name);
    if (isStopped() || pod?.status.phase !== "Pending" || isLeaving(pod)) return;
    if (pod.spec.nodeName === undefined) place(pod);
    else if (!hasImage(pod.spec.containers[0]?.image ?? "")) failPull(pod);
    else if (isNodeReady(pod)) run(pod);
  }

  function place(pod: Pod): void {
    const { name } = pod.metadata;
    const placed = placePod(pod.spec, nodes, store.list("pods") as readonly Pod[]);
    if ("node" in placed) {
      const conditions = [condition("PodScheduled", "True")];
      const spec = { ...pod.spec, nodeName: placed.node };
      update({ ...pod, spec, status: { ...pod.status, conditions } });
      setImmediate(() => advance(name));
      return;
    }
    const scheduled = condition("PodScheduled", "False", "Unschedulable", placed.message);
    if (pod.status.conditions?.[0]?.message !== placed.message)
      setStatus(name, { ...pod.status, conditions: [scheduled] });
    again(name);
  }

  /** The node's two states of an image that it can't have, one after the other. */
  function failPull(pod: Pod): void {
    const image = pod.spec.containers[0]?.image ?? "";
    const isPulled = JSON.stringify(pod.status.containerStatuses ?? []).includes("ErrImagePull");
    const waiting = isPulled
      ? { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` }
      : { reason: "ErrImagePull", message: `failed to pull image "${image}": not found` };
    setStatus(pod.metadata.name, { ...pod.status, containerStatuses: [seen(pod, { waiting })] });
    again(pod.metadata.name);
  }

  function run(pod: Pod): void {
    const { name, uid } = pod.metadata;
    const own: PodOnNode = { program: null, log: "" };
    const started = startPodProgram(pod, store, start, (text) => (own.log += text));
    if (started === null) {
      again(name);
      return;
    }
    own.program = started;
    local.set(uid, own);
    const running = { running: { startedAt: wireTime(Date.now()) } };
    const startTime = wireTime(Date.now());
    setStatus(name, {
      ...pod.status,
      phase: "Running",
      startTime,
      containerStatuses: [seen(pod, running)],
    });
    void started.ended.then((end) => ended(name, uid, end));
  }

  function ended(name: string, uid: string, end: PodEnd): void {
    const pod = podOf(name);
    const own = local.get(uid);
    if (own !== undefined) own.program = null;
    if (isStopped() || pod?.metadata.uid !== uid || !isNodeReady(pod)) return;
    setStatus(name, {
      ...pod.status,
      phase: end.exitCode === 0 ? "Succeeded" : "Failed",
      containerStatuses: [seen(pod, { terminated: terminated(end, own?.log ?? "") })],
    });
    if (isLeaving(pod)) store.remove("pods", name);
  }

  function deletePod(name: string, graceSeconds: number | null): void {
    const pod = podOf(name);
    if (pod === undefined) return;
    const own = pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
    const grace = graceSeconds ?? own;
    const program = local.get(pod.metadata.uid)?.program ?? null;
    // Without a program there is nothing to wait for.
    const isIdle = program === null && (pod.spec.nodeName === undefined || isNodeReady(pod));
    if (grace === 0 || isIdle) {
      store.remove("pods", name);
      return;
    }
    const deletionTimestamp = wireTime(Date.now() + grace * 1_000);
    const leaving = { deletionTimestamp, deletionGracePeriodSeconds: grace };
    update({ ...pod, metadata: { ...pod.metadata, ...leaving } });
    program?.terminate();
    setTimeout(() => program?.kill(), grace * 1_000).unref();
  }

  function isNodeReady(pod: Pod): boolean {
    return nodes.find(({ name }) => name === pod.spec.nodeName)?.isReady === true;
  }
  const podsOn = (node: string) =>
    (store.list("pods") as readonly Pod[]).filter(({ spec }) => spec.nodeName === node);
  const update = (pod: Pod) => store.update("pods", pod);
  function setStatus(name: string, status: PodStatus): void {
    const pod = podOf(name);
    if (pod !== undefined) update({ ...pod, status });
  }

  return {
    /** Starts a pod's deletion: TERM, and KILL after the grace period. Zero removes it at once. */
    deletePod,
    /** Deletes the pods of a node as `kubectl drain` does. */
    drain: (node: string) => {
      for (const pod of podsOn(node)) {
        const disrupted = condition("DisruptionTarget", "True", "EvictionByEvictionAPI");
        const conditions = [...(pod.status.conditions ?? []), disrupted];
        setStatus(pod.metadata.name, { ...pod.status, conditions });
        deletePod(pod.metadata.name, null);
      }
    },
    /** Ends all that runs on a node without a word to the server, as when its power fails. */
    crash: (node: string) => {
      for (const pod of podsOn(node)) local.get(pod.metadata.uid)?.program?.kill();
    },
    log: (name: string): string => local.get(podOf(name)?.metadata.uid ?? "")?.log ?? "",
    stop: () => {
      for (const { program } of local.values()) program?.kill();
    },
  };
}

export type Kubelet = ReturnType<typeof runPods>;

/** With the end of its log, as `FallbackToLogsOnError` has it. */
function terminated({ exitCode, reason }: PodEnd, log: string): object {
  if (exitCode === 0) return { exitCode, reason: "Completed" };
  return { exitCode, reason: reason ?? "Error", message: log.slice(-2048) };
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function condition(
  type: string,
  status: Condition["status"],
  reason?: string,
  message?: string,
): Condition {
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
}

/** A container's status, with all that the API promises to have. */
function seen({ spec }: Pod, state: object): object {
  const { name = "", image = "" } = spec.containers[0] ?? {};
  const ready = "running" in state;
  return { name, image, imageID: "", ready, started: ready, restartCount: 0, state };
}
