import { setTimeout as wait } from "node:timers/promises";
import type { CoreV1Event } from "@kubernetes/client-node";
import type { ClusterConfig } from "../../../foundation/config/cluster-place.ts";
import { Problem } from "../../../foundation/errors.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../cluster-engine.ts";
import { createChecked } from "../checked.ts";
import { closedPolicy, ensurePolicy, findDoor, hostsOf } from "./closed-network.ts";
import { connectKubernetes, type KubeClient } from "./kube-client.ts";
import { ifStatus, statusOf, userError } from "./kube-errors.ts";
import { countPulls, placedRuns, type FailedPulls } from "./placed-runs.ts";
import { projectLabel, runJob, ticketSecret, runLabel, type RunPlace } from "./run-manifests.ts";

export interface KubernetesOptions {
  readonly config: Pick<ClusterConfig, "address" | "namespace">;
  /**
   * Separates this project's runs from others of the namespace: at most 40 lower-case letters and digits. Schedulers of
   * several machines share a namespace, so the project's path is not enough.
   */
  readonly project: string;
  /** File of the kubeconfig; null for the client's default places. */
  readonly kubeconfig?: string | null;
}

/** Limit of concurrent starts and removals; hundreds of runs may end at once. */
const mostAtATime = 16;
/** After so many refusals, so many ms apart, the user lacks the right. */
const mostRefusals = 3;
const rolesMs = 1_000;

/**
 * Starts runs as Jobs of the cluster in the kubeconfig. Connects with the first call. Runs are listed and not watched:
 * the engine is polled only while a run waits for a machine or is silent.
 */
export function createKubernetesEngine(options: KubernetesOptions): ClusterEngine {
  const { project, config, kubeconfig = null } = options;
  const queued = atATime(mostAtATime);
  let connecting: Promise<KubeClient> | null = null;
  let hosts: RunPlace["hosts"] = [];
  let failedPulls: FailedPulls = new Map();

  const asked = async <T>(action: string, ask: (client: KubeClient) => Promise<T>): Promise<T> => {
    const connected = (connecting ??= connectKubernetes({
      namespace: config.namespace,
      kubeconfig,
    }));
    // The next call reads the kubeconfig again, whose credentials may have been renewed.
    const forget = (): void => void (connecting = null);
    const client = await connected.catch((error: unknown) => {
      forget();
      throw error;
    });
    return unlessStarting(() => ask(client)).catch((error: unknown) => {
      if (statusOf(error) === 401) forget();
      throw userError(error, client.server, action);
    });
  };
  const policy = createChecked(() =>
    asked("make the network policy of closed runs", async (client) => {
      const door = await findDoor(config.address);
      await ensurePolicy(client, closedPolicy(project, door));
      hosts = hostsOf(door);
    }),
  );
  return {
    ready: policy.ensure,
    start: (launch) =>
      asked("start the run", async (client) => {
        assertNetwork(launch);
        await queued(() => startRun(launch, { project, hosts }, client));
      }),
    remove: (name) => asked("remove a run", (client) => queued(() => removeRun(name, client))),
    list: () =>
      asked("list the runs", async (client) => {
        const { batch, core, namespace } = client;
        const own = { namespace, labelSelector: `${projectLabel}=${project}` };
        const [jobs, pods] = await Promise.all([
          batch.listNamespacedJob(own),
          core.listNamespacedPod(own),
        ]);
        failedPulls = countPulls(pods.items, failedPulls);
        const seen = { jobs: jobs.items, pods: pods.items, failedPulls };
        const runs = placedRuns({ ...seen, refusals: new Map() });
        return runs.some(isUnplaced)
          ? placedRuns({ ...seen, refusals: await podRefusals(client) })
          : runs;
      }),
  };
}

/** An API server that has just started refuses everyone for a moment, as it has not read the roles yet. */
async function unlessStarting<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (statusOf(error) !== 403 || tries === mostRefusals) throw error;
      await wait(rolesMs);
    }
  }
}

function assertNetwork({ limits: { network } }: Launch): void {
  if (network === "none" || network === "bridge") return;
  throw new Problem(
    "engine_refused",
    `[local] network = "${network}": Kubernetes has no network of that name`,
    'write "none" for runs that reach only what [network] allows, or "bridge" for runs in the network of all pods',
  );
}

/** Creates the Job first, as it owns its secret; suspended, as its pod can't start before the secret exists. */
async function startRun(launch: Launch, place: RunPlace, client: KubeClient): Promise<void> {
  const { batch, core, namespace, mergePatch } = client;
  const { name } = launch;
  const job = await batch.createNamespacedJob({ namespace, body: runJob(launch, place) });
  try {
    const secret = ticketSecret(launch, place.project, job.metadata?.uid ?? "");
    await core.createNamespacedSecret({ namespace, body: secret }).catch(ofEarlierAttempt);
    const body = { spec: { suspend: false } };
    await batch.patchNamespacedJob({ name, namespace, body }, mergePatch);
  } catch (error) {
    await removeRun(name, client).catch(() => undefined);
    throw error;
  }
}

/**
 * The Job of an earlier attempt is removed at once; Kubernetes removes its secret later, after a restart of the API server
 * by up to a minute.
 */
function ofEarlierAttempt(error: unknown): never {
  if (statusOf(error) !== 409) throw error;
  throw new Problem(
    "engine_unreachable",
    "Kubernetes still removes an earlier attempt to start the run",
    { cause: error },
  );
}

/** The Job first, so that no other pod is created. Its secret is deleted with it. */
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

/** Accepted by the server, without a pod yet. */
function isUnplaced({ state, node, problem }: PlacedRun): boolean {
  return state === "waiting" && node === null && problem === null;
}

/** Why the server creates no pods for Jobs, such as a quota or its security policy: only events have the reason. */
async function podRefusals({ core, namespace }: KubeClient): Promise<Map<string, string>> {
  const fieldSelector = "involvedObject.kind=Job,reason=FailedCreate";
  const { items } = await core.listNamespacedEvent({ namespace, fieldSelector });
  return new Map(items.flatMap(refusalOf));
}

function refusalOf({ involvedObject, message }: CoreV1Event): [string, string][] {
  const { name } = involvedObject;
  return name === undefined || message === undefined ? [] : [[name, message]];
}

/** Limits concurrent actions; the others wait in order. The client opens a connection for each request at once. */
function atATime(most: number): <T>(action: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (action) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await action();
    } finally {
      // The next action takes the place of this one.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
