import { randomUUID } from "node:crypto";
import { lastValueFrom, NEVER, tap, toArray } from "rxjs";
import { expect, it, onTestFinished } from "vitest";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { adoptRuns } from "../../../../src/runtime/runners/adopt-runs.ts";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { exitOf, messagesOf, runnerContract } from "../../runners/contract.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { clusterRig } from "../../../helpers/cluster-rig.ts";
import { startProcessPod } from "../../../helpers/kubernetes/process-pods.ts";
import { startSmallCluster } from "../../../helpers/kubernetes/small-cluster.ts";
import type { Pod } from "../../../helpers/kubernetes/wire-types.ts";
import { end, forever, log, processesOf } from "../../runners/shell-runs.ts";
import { project } from "./support.ts";

/** A scheduler's runner over the small cluster, whose pods are processes of this machine. */
async function openCluster() {
  const nodes = ["node-1", "node-2", "node-3"].map((name) => ({ name }));
  const cluster = await startSmallCluster({ start: startProcessPod, nodes });
  const config = {
    get address() {
      return rig.configured({}).cluster?.().address ?? "";
    },
    namespace: null,
  };
  const engine = createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig });
  const rig = await clusterRig({ engine });
  return {
    ...rig,
    cluster,
    objects: () =>
      (["jobs", "pods", "secrets"] as const).flatMap((kind) => cluster.store.list(kind)),
    dispose: async () => {
      await rig.dispose();
      await cluster.stop();
      expect(cluster.violations()).toEqual([]);
    },
  };
}

function aRequest(title: string, config: Partial<AgentConfig> = {}): RunRequest {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  return { instanceId, agent: anAgent("dev", { title, ...config }), item: anItem("1") };
}

/** Kubernetes has no such network, so it accepts no such run. */
const noSuchNetwork = { local: { memory: null, cpus: null, network: "lan", env: {} } };

runnerContract("the cluster runner over Kubernetes", async () => {
  const cluster = await openCluster();
  return {
    runner: await cluster.start(),
    request: (scenario) => aRequest(scenario, scenario === "cannot-start" ? noSuchNetwork : {}),
    leftovers: async (id) => [
      ...(await processesOf(id)),
      ...cluster.objects().flatMap((object) => (JSON.stringify(object).includes(id) ? [id] : [])),
      ...(await cluster.records.list()).filter((one) => one === id),
    ],
    dispose: cluster.dispose,
  };
});

it("runs are spread over the nodes, and each shows its node", async () => {
  const cluster = await openCluster();
  onTestFinished(cluster.dispose);
  const nodes: string[] = [];
  const runner = await cluster.start({ onClaim: (_id, node) => nodes.push(node) });
  const requests = Array.from({ length: 6 }, () => aRequest(`${log("a")}; sleep 1; ${end()}`));
  const all = await Promise.all(
    requests.map((request) => lastValueFrom(runner.run(request, NEVER).pipe(toArray()))),
  );
  for (const events of all) expect(messagesOf(events)).toEqual(["a"]);
  const each = ["node-1", "node-2", "node-3"];
  expect(nodes.sort()).toEqual(each.flatMap((node) => [node, node]));
  await expect.poll(cluster.objects).toEqual([]);
});

it("a run is lost once when its node fails, and its reason names the node", async () => {
  const cluster = await openCluster();
  onTestFinished(cluster.dispose);
  const runner = await cluster.start(cluster.configured({ leaseSeconds: 2 }));
  const request = aRequest(`${log("ready")}; ${forever}`);
  const run$ = runner.run(request, NEVER).pipe(
    tap((event) => {
      const [pod] = cluster.cluster.store.list("pods") as readonly Pod[];
      if (event.type === "output") cluster.cluster.crash(pod?.spec.nodeName ?? "");
    }),
  );
  const exit = exitOf(await lastValueFrom(run$.pipe(toArray())));
  expect(exit).toMatchObject({ lost: true, error: expect.stringContaining("node-1") as string });
  await expect.poll(cluster.objects).toEqual([]);
});

it("a run is lost when its node is drained, and the cluster does not start it again", async () => {
  const cluster = await openCluster();
  onTestFinished(cluster.dispose);
  const runner = await cluster.start(cluster.configured({ leaseSeconds: 3 }));
  const request = aRequest(`${log("ready")}; ${forever}`);
  const run$ = runner.run(request, NEVER).pipe(
    tap((event) => {
      if (event.type === "output")
        for (const node of cluster.cluster.nodes) cluster.cluster.drain(node.name);
    }),
  );
  const events = await lastValueFrom(run$.pipe(toArray()));
  expect(messagesOf(events)).toContain("ready");
  expect(exitOf(events)).toMatchObject({ lost: true, rejected: null });
  expect(await processesOf(request.instanceId)).toEqual([]);
  await expect.poll(cluster.objects).toEqual([]);
});

it("a run continues while the API server is away, and its remains are removed when that is back", async () => {
  const cluster = await openCluster();
  onTestFinished(cluster.dispose);
  const runner = await cluster.start();
  const run$ = runner
    .run(aRequest(`${log("one")}; sleep 0.5; ${log("two")}; ${end()}`), NEVER)
    .pipe(
      tap((event) => {
        if (event.type === "output") cluster.cluster.away(true);
      }),
    );
  const events = await lastValueFrom(run$.pipe(toArray()));
  expect(messagesOf(events)).toEqual(["one", "two"]);
  expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
  expect(cluster.objects()).not.toEqual([]);
  cluster.cluster.away(false);
  await expect.poll(cluster.objects, { timeout: 10_000 }).toEqual([]);
});

it("a run continues under the next scheduler, through another engine of the same project", async () => {
  const cluster = await openCluster();
  onTestFinished(cluster.dispose);
  const request = aRequest(`${log("one")}; sleep 2; ${log("two")}; ${end()}`);
  const earlier = await cluster.start();
  const started = new Promise<void>((resolve) => {
    earlier.run(request, NEVER).subscribe(({ type }) => {
      if (type === "output") resolve();
    });
  });
  await started;
  const { instanceId, item } = request;
  const runner = await cluster.start({}, [instanceId]);
  await runner.adopt([instanceId]);
  await runner.reap();
  const open = [{ item, instanceId, startedAt: 0, waitedMs: 0, leftByStop: false }];
  const [run] = await adoptRuns(open, [runner], { read: () => Promise.resolve([]) });
  if (run === undefined) throw new Error("it is not found");
  const events = await lastValueFrom(run.report(NEVER).pipe(toArray()));
  expect(messagesOf(events)).toContain("two");
  expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
  await expect.poll(cluster.objects).toEqual([]);
});
