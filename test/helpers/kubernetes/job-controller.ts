import { randomBytes } from "node:crypto";
import { wireTime } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Condition, Job, KubeObject, Pod, PodSpec } from "./wire-types.ts";

export interface JobControllerOptions {
  readonly store: ObjectStore;
  /** How long a second of deadlines and times to live is, in ms. */
  readonly secondMs: number;
  /** Starts a pod's deletion. */
  readonly deletePod: (name: string, graceSeconds: number | null) => void;
  /** What the cluster has against a pod. */
  readonly admit: (spec: PodSpec) => readonly string[];
  readonly isStopped: () => boolean;
}

/** Makes the pod of each Job, counts its endings, and ends and removes Jobs when their time is over. */
export function controlJobs(options: JobControllerOptions): void {
  const { store, secondMs, deletePod, admit, isStopped } = options;
  /** Failed pods by the Job's uid: they count even when they are gone. */
  const failed = new Map<string, Set<string>>();
  const later = (seconds: number, act: () => void) => {
    // What no test waits for does not fit into a timer either.
    if (seconds * secondMs > 2 ** 31 - 1) return;
    setTimeout(() => !isStopped() && act(), seconds * secondMs).unref();
  };
  const jobOf = (name: string) => store.get("jobs", name) as Job | undefined;

  store.onChange(({ type, resource, object }) => {
    if (isStopped()) return;
    if (resource === "jobs" && type !== "DELETED") jobChanged(object as Job);
    if (resource === "pods") {
      const name = ownerOf(object);
      if (name !== null) setImmediate(() => podChanged(name, object as Pod, type === "DELETED"));
    }
  });

  function jobChanged(job: Job): void {
    const { name, uid } = job.metadata;
    const isSuspended = job.spec.suspend === true;
    if (isSuspended ? job.status !== undefined : job.status?.startTime !== undefined) return;
    setImmediate(() => {
      const status = isSuspended
        ? { conditions: [suspended("True")] }
        : { active: 1, startTime: wireTime(Date.now()), conditions: [suspended("False")] };
      const now = jobOf(name);
      const isSame = now?.metadata.uid === uid && now.spec.suspend === job.spec.suspend;
      if (!isSame || now.status?.startTime !== undefined) return;
      setStatus(name, status);
      if (!isSuspended) begin(job);
    });
  }

  function begin({ metadata: { name, uid }, spec: { activeDeadlineSeconds } }: Job): void {
    makePod(name, uid);
    if (activeDeadlineSeconds === undefined) return;
    later(activeDeadlineSeconds, () => {
      if (jobOf(name)?.metadata.uid !== uid || isFinished(jobOf(name))) return;
      finish(name, "Failed", "DeadlineExceeded", "Job was active longer than specified deadline");
      for (const pod of podsOf(name)) deletePod(pod.metadata.name, null);
    });
  }

  function makePod(name: string, uid: string): void {
    const job = jobOf(name);
    if (isStopped() || job?.metadata.uid !== uid || isFinished(job)) return;
    const violations = admit(job.spec.template.spec);
    if (violations.length === 0) {
      store.create("pods", podOf(job));
      return;
    }
    const message = `Error creating: pods "${name}" is forbidden: ${violations.join(", ")}`;
    store.create("events", refusal(job, message));
    later(10, () => makePod(name, uid));
  }

  function podChanged(name: string, pod: Pod, isGone: boolean): void {
    const job = jobOf(name);
    const uid = pod.metadata.ownerReferences?.[0]?.uid;
    if (job === undefined || job.metadata.uid !== uid || isFinished(job)) return;
    if (pod.status.phase === "Succeeded") {
      finish(name, "Complete", "CompletionsReached", "Reached expected number of succeeded pods");
      return;
    }
    if (pod.status.phase !== "Failed" && !isGone) return;
    const pods = failed.get(uid) ?? new Set();
    failed.set(uid, pods.add(pod.metadata.uid));
    setStatus(name, { ...job.status, failed: pods.size });
    if (pods.size <= (job.spec.backoffLimit ?? 6)) later(1, () => makePod(name, uid));
    else
      finish(name, "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }

  function finish(name: string, type: string, reason: string, message: string): void {
    const job = jobOf(name);
    if (job === undefined) return;
    const now = wireTime(Date.now());
    const condition: Condition = { type, status: "True", reason, message, lastTransitionTime: now };
    const isComplete = type === "Complete";
    setStatus(name, {
      ...job.status,
      active: 0,
      ...(isComplete && { succeeded: 1, completionTime: now }),
      conditions: [...(job.status?.conditions ?? []), condition],
    });
    const { ttlSecondsAfterFinished: ttl } = job.spec;
    if (ttl === undefined) return;
    later(ttl, () => {
      if (jobOf(name)?.metadata.uid === job.metadata.uid) store.remove("jobs", name);
    });
  }

  function setStatus(name: string, status: Job["status"]): void {
    const job = jobOf(name);
    if (job === undefined) return;
    const changed: KubeObject & { status: Job["status"] } = { ...job, status };
    store.update("jobs", changed);
  }

  function podsOf(name: string): readonly KubeObject[] {
    return store.list("pods").filter((pod) => ownerOf(pod) === name);
  }
}

function isFinished(job: Job | undefined): boolean {
  return (job?.status?.conditions ?? []).some(({ type }) => type !== "Suspended");
}

function suspended(status: Condition["status"]): Condition {
  const reason = status === "True" ? "JobSuspended" : "JobResumed";
  return { type: "Suspended", status, reason, lastTransitionTime: wireTime(Date.now()) };
}

function ownerOf({ metadata }: KubeObject): string | null {
  return metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.name ?? null;
}

function podOf({ metadata: { name, uid }, spec: { template } }: Job) {
  const labels = { "batch.kubernetes.io/job-name": name, "job-name": name };
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true };
  const status: Pod["status"] = { phase: "Pending" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...template.metadata,
      name: `${name}-${randomBytes(3).toString("hex").slice(0, 5)}`,
      labels: { ...template.metadata?.labels, ...labels },
      ownerReferences: [owner],
    },
    spec: template.spec,
    status,
  };
}

function refusal({ metadata: { name, namespace, uid } }: Job, message: string) {
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${randomBytes(8).toString("hex")}` },
    involvedObject: { apiVersion: "batch/v1", kind: "Job", name, namespace, uid },
    reason: "FailedCreate",
    type: "Warning",
    message,
  };
}
