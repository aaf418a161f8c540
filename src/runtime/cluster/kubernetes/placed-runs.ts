import type { KubernetesObject, V1ContainerStatus, V1Job, V1Pod } from "@kubernetes/client-node";
import type { PlacedRun } from "../cluster-engine.ts";
import { runOf } from "./run-manifests.ts";

/** How often an image could not be pulled, by the pod's name, and whether that is its current state. */
export type FailedPulls = ReadonlyMap<
  string,
  { readonly count: number; readonly isFailing: boolean }
>;

export interface SeenRuns {
  readonly jobs: readonly V1Job[];
  readonly pods: readonly V1Pod[];
  readonly failedPulls: FailedPulls;
  /** Why no pod of a Job could be created, by the Job's name. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** After this many failed pulls an image counts as missing; a registry may fail occasionally. */
const mostPulls = 3;

/** The runs that the server knows: those with a Job, and those whose pod outlives it. */
export function placedRuns({ jobs, pods, failedPulls, refusals }: SeenRuns): PlacedRun[] {
  const podOf = podsByRun(pods);
  const jobOf = new Map(jobs.map((job) => [nameOf(job), job]));
  const names = new Set([...jobOf.keys(), ...podOf.keys()]);
  return [...names].flatMap((name) => {
    const [job, pod] = [jobOf.get(name), podOf.get(name)];
    const run = runOf(pod ?? job ?? {});
    if (run === null) return [];
    const pulls = failedPulls.get(nameOf(pod ?? {}))?.count ?? 0;
    const placed = placedRun(run, job, pod, pulls);
    const refusal = pod === undefined ? refusals.get(name) : undefined;
    return [{ ...placed, problem: placed.problem ?? refusal ?? null }];
  });
}

function placedRun(
  run: Pick<PlacedRun, "name" | "instanceId">,
  job: V1Job | undefined,
  pod: V1Pod | undefined,
  pulls: number,
): PlacedRun {
  const { state, node } = stateOf(job, pod);
  const isEnded = (pod !== undefined && isOver(pod)) || finished(job) !== undefined;
  return {
    ...run,
    state,
    node,
    ...endOf(pod),
    problem: problemOf(job, pod),
    endings: endingsOf(job, pod) + pulls,
    // A Job that has ended starts no more pods.
    isHopeless: isEnded || pulls >= mostPulls || hasNoImage(pod),
    ...(isEvicted(job, pod) && { isEvicted: true }),
  };
}

/** Whether its node was drained or had to give it up, or another pod came first. A Job keeps pods that failed by themselves. */
function isEvicted(job: V1Job | undefined, pod: V1Pod | undefined): boolean {
  if (pod === undefined) return finished(job)?.reason === "BackoffLimitExceeded";
  // After a power cut the node does not know how its containers ended.
  const { reason = "" } = runContainer(pod)?.state?.terminated ?? {};
  if (reason === "Unknown" || reason === "ContainerStatusUnknown") return true;
  const { conditions = [] } = pod.status ?? {};
  return conditions.some(({ type, status }) => type === "DisruptionTarget" && status === "True");
}

function podsByRun(pods: SeenRuns["pods"]): Map<string, V1Pod> {
  const podOf = new Map<string, V1Pod>();
  for (const pod of pods) {
    const name = runOf(pod)?.name;
    // With two pods, the live one counts.
    if (name !== undefined && !(podOf.has(name) && isOver(pod))) podOf.set(name, pod);
  }
  return podOf;
}

function isOver(pod: V1Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

function finished(job: V1Job | undefined) {
  return job?.status?.conditions?.find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
}

/** The start of a Job that is still suspended broke off: it has no pod and gets none. */
function stateOf(
  job: V1Job | undefined,
  pod: V1Pod | undefined,
): Pick<PlacedRun, "state" | "node"> {
  if (pod === undefined) {
    const isWaiting = finished(job) === undefined && job?.spec?.suspend !== true;
    return { state: isWaiting ? "waiting" : "ended", node: null };
  }
  const node = pod.spec?.nodeName ?? null;
  if (isOver(pod)) return { state: "ended", node };
  return { state: pod.status?.phase === "Running" ? "running" : "waiting", node };
}

function endingsOf(job: V1Job | undefined, pod: V1Pod | undefined): number {
  const restarts = runContainer(pod)?.restartCount ?? 0;
  return restarts + Math.max(job?.status?.failed ?? 0, pod !== undefined && isOver(pod) ? 1 : 0);
}

function runContainer(pod: V1Pod | undefined): V1ContainerStatus | undefined {
  return pod?.status?.containerStatuses?.[0];
}

function problemOf(job: V1Job | undefined, pod: V1Pod | undefined): string | null {
  const end = finished(job);
  return (
    endingOf(pod) ??
    waitOf(pod) ??
    (end?.type === "Failed" ? sentence(end.reason, end.message) : null)
  );
}

/** How its program ended, as far as the node has reported. */
function endOf(pod: V1Pod | undefined) {
  const terminated = runContainer(pod)?.state?.terminated;
  if (terminated === undefined) return {};
  return { exitCode: terminated.exitCode, outOfMemory: terminated.reason === "OOMKilled" };
}

/** Why a pod ended: evicted, out of memory, or the last lines that its program wrote. */
function endingOf(pod: V1Pod | undefined): string | null {
  if (pod === undefined || !isOver(pod)) return null;
  const reason = pod.status?.reason;
  if (reason !== undefined) return sentence(reason, pod.status?.message);
  const terminated = runContainer(pod)?.state?.terminated;
  if (terminated === undefined || terminated.exitCode === 0) return null;
  const written = terminated.message?.trim().split("\n").at(-1);
  return sentence(`${terminated.reason ?? "Error"}, exit code ${terminated.exitCode}`, written);
}

/** Why a pod waits: for a node, or for its image or volumes. A container in creation has no problem. */
function waitOf(pod: V1Pod | undefined): string | null {
  const waiting = runContainer(pod)?.state?.waiting;
  if (waiting !== undefined && !isNormal(waiting.reason))
    return sentence(waiting.reason, waiting.message);
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? sentence(scheduled.reason, scheduled.message) : null;
}

function isNormal(reason: string | undefined): boolean {
  return reason === undefined || reason === "ContainerCreating" || reason === "PodInitializing";
}

function sentence(reason = "", message = ""): string | null {
  const parts = [reason, message].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.join(": ");
}

/** Counts the pods that can't pull their image now and could before; the node retries. */
export function countPulls(pods: readonly V1Pod[], before: FailedPulls): FailedPulls {
  return new Map(
    pods.map((pod) => {
      const { count = 0, isFailing: wasFailing = false } = before.get(nameOf(pod)) ?? {};
      const isFailing = waitingFor(pod) === "ErrImagePull";
      return [nameOf(pod), { count: isFailing && !wasFailing ? count + 1 : count, isFailing }];
    }),
  );
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata?.name ?? "";
}

/** Whether the image's name is invalid, or the node may not pull it: the node does not try. */
function hasNoImage(pod: V1Pod | undefined): boolean {
  return ["InvalidImageName", "ErrImageNeverPull"].includes(waitingFor(pod) ?? "");
}

function waitingFor(pod: V1Pod | undefined): string | undefined {
  return runContainer(pod)?.state?.waiting?.reason;
}
