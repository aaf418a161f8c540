import type { CoreV1Event, V1Job, V1Pod } from "@kubernetes/client-node";
import type { ClusterConfig } from "../../../foundation/contracts/cluster.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import { atATime } from "./at-a-time.ts";
import { closedPolicy, ensurePolicy, findDoor, hostsOf } from "./closed-network.ts";
import { connectKubernetes } from "./kube-client.ts";
import type { KubeClient } from "./kube-client.ts";
import { ifStatus, statusOf, userError } from "./kube-errors.ts";
import { createObjectCache } from "./list-and-watch.ts";
import type { ObjectCache } from "./list-and-watch.ts";
import { podSource, jobSource } from "./object-sources.ts";
import { isFailedPull, placedRuns } from "./placed-runs.ts";
import { runLabel } from "./run-labels.ts";
import { runJob, ticketSecret } from "./run-manifests.ts";
import type { RunPlace } from "./run-manifests.ts";

export interface KubernetesOptions {
  readonly config: Pick<ClusterConfig, "address" | "namespace">;
  /**
   * Tells this project's runs from others' of the namespace: at most 40 lower-case letters and digits. Schedulers of
   * several machines share a namespace, so the project's path is not enough.
   */
  readonly project: string;
  /** File of the kubeconfig; null for the client's own places. */
  readonly kubeconfig?: string | null;
}

export interface KubernetesEngine extends ClusterEngine {
  /** Ends the watches; the next question opens them again. */
  close(): void;
}

/** How long a check of the shared resources stays valid, in ms. */
const readyMs = 30_000;

/** Runs that are started or removed at the same time; hundreds may end at once. */
const mostAtATime = 16;

interface Connected {
  readonly client: KubeClient;
  readonly jobs: ObjectCache<V1Job>;
  readonly pods: ObjectCache<V1Pod>;
  readonly failedPulls: Map<string, number>;
}

/** Starts runs as Jobs of the cluster that the kubeconfig names. Connects with the first call. */
export function createKubernetesEngine(options: KubernetesOptions): KubernetesEngine {
  const { project, config } = options;
  let connecting: Promise<Connected> | null = null;
  let hosts: RunPlace["hosts"] = [];
  const queued = atATime(mostAtATime);
  let preparing: { at: number; done: Promise<void> } | null = null;

  async function connected(): Promise<Connected> {
    connecting ??= connect(options);
    try {
      return await connecting;
    } catch (error) {
      // Another kubeconfig may be there by the next time.
      connecting = null;
      throw error;
    }
  }

  /** The next call reads the kubeconfig again, whose credentials may have been renewed. */
  function disconnect(): void {
    const closing = connecting;
    connecting = null;
    void closing?.then(
      ({ jobs, pods }) => [jobs, pods].forEach((cache) => cache.stop()),
      () => undefined,
    );
  }

  async function asked<T>(what: string, ask: (engine: Connected) => Promise<T>): Promise<T> {
    const engine = await connected();
    try {
      return await ask(engine);
    } catch (error) {
      if (statusOf(error) === 401) disconnect();
      throw userError(error, engine.client.server, what);
    }
  }

  const prepare = () =>
    asked("make the network policy of closed runs", async ({ client }) => {
      const door = await findDoor(config.address);
      await ensurePolicy(client, closedPolicy(project, door));
      hosts = hostsOf(door);
    });

  return {
    ready: async () => {
      const isFresh = preparing !== null && performance.now() - preparing.at < readyMs;
      if (!isFresh) preparing = { at: performance.now(), done: prepare() };
      const current = preparing;
      try {
        await current?.done;
      } catch (error) {
        if (preparing === current) preparing = null;
        throw error;
      }
    },
    start: (launch) =>
      asked("start the run", async (engine) => {
        assertNetwork(launch);
        await queued(() => startRun(launch, { project, hosts }, engine));
      }),
    remove: (name) => asked("remove a run", ({ client }) => queued(() => removeRun(name, client))),
    list: () =>
      asked("list the runs", async ({ client, jobs, pods, failedPulls }) => {
        const seen = { jobs: await jobs.current(), pods: await pods.current(), failedPulls };
        const runs = placedRuns({ ...seen, refusals: new Map() });
        return runs.some(isUnplaced)
          ? placedRuns({ ...seen, refusals: await podRefusals(client) })
          : runs;
      }),
    close: disconnect,
  };
}

async function connect({
  config,
  project,
  kubeconfig = null,
}: KubernetesOptions): Promise<Connected> {
  const client = await connectKubernetes({ namespace: config.namespace, kubeconfig });
  const failedPulls = new Map<string, number>();
  const countPulls = (before: V1Pod | undefined, after: V1Pod | undefined) => {
    const name = (after ?? before)?.metadata?.name ?? "";
    if (after === undefined) failedPulls.delete(name);
    else if (isFailedPull(before, after)) failedPulls.set(name, (failedPulls.get(name) ?? 0) + 1);
  };
  return {
    client,
    jobs: createObjectCache(jobSource(client, project)),
    pods: createObjectCache({ ...podSource(client, project), onChange: countPulls }),
    failedPulls,
  };
}

function assertNetwork({ limits: { network } }: Launch): void {
  if (network === "none" || network === "bridge") return;
  throw new UserError(
    "engine_refused",
    `[local] network = "${network}": Kubernetes has no network of that name`,
    {
      hint: 'write "none" for a run that reaches what [network] allows, or "bridge" for the network of all pods',
    },
  );
}

/** The Job first, as its secret is to go with it; suspended, as nothing could begin before the secret is there. */
async function startRun(launch: Launch, place: RunPlace, engine: Connected): Promise<void> {
  const { client, jobs } = engine;
  const { batch, core, namespace, mergePatch } = client;
  const { name } = launch;
  const job = await batch.createNamespacedJob({ namespace, body: runJob(launch, place) });
  try {
    const secret = ticketSecret(launch, place.project, job.metadata?.uid ?? "");
    await core.createNamespacedSecret({ namespace, body: secret });
    const body = { spec: { suspend: false } };
    jobs.put(await batch.patchNamespacedJob({ name, namespace, body }, mergePatch));
  } catch (error) {
    await removeRun(name, client).catch(() => undefined);
    throw error;
  }
}

/** The Job first, so that no other pod is made. Its secret goes with it. */
async function removeRun(name: string, { batch, core, namespace }: KubeClient): Promise<void> {
  const propagationPolicy = "Background";
  await batch
    .deleteNamespacedJob({ name, namespace, propagationPolicy })
    .catch(ifStatus(null, 404));
  await core.deleteCollectionNamespacedPod({
    namespace,
    labelSelector: `${runLabel}=${name}`,
    gracePeriodSeconds: 0,
  });
}

/** Accepted by the server, and no pod yet. */
function isUnplaced({ state, node, problem }: PlacedRun): boolean {
  return state === "waiting" && node === null && problem === null;
}

/** Why the server makes no pods of Jobs, such as a quota or the security that it demands: only its events say so. */
async function podRefusals({ core, namespace }: KubeClient): Promise<Map<string, string>> {
  const fieldSelector = "involvedObject.kind=Job,reason=FailedCreate";
  const { items } = await core.listNamespacedEvent({ namespace, fieldSelector });
  return new Map(items.flatMap(refusalOf));
}

function refusalOf({ involvedObject, message }: CoreV1Event): [string, string][] {
  const { name } = involvedObject;
  return name === undefined || message === undefined ? [] : [[name, message]];
}
