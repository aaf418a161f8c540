import { lastValueFrom, NEVER, tap, toArray } from "rxjs";
import { runName } from "../../src/runtime/cluster/cluster-engine.ts";
import { createKubernetesEngine } from "../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { workDir } from "../../src/runtime/runners/container/container-options.ts";
import { command as program } from "../../src/runtime/runners/container/image/dockerfile.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { clusterRig } from "../helpers/cluster-rig.ts";
import { testEngine } from "../helpers/docker.ts";
import type { KubeNode } from "../helpers/kubernetes/kube-node.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { exitOf, messagesOf, runnerContract } from "../runtime/runners/contract.ts";
import { aRequest, end, forever, log, scriptOf } from "../runtime/runners/shell-runs.ts";
import { preparedCluster } from "./live-side.ts";
import { project } from "./side.ts";
import { pause } from "../helpers/pause.ts";

let cluster: LiveCluster;
let image: string;

beforeAll(async () => {
  image = await programImage((await testEngine()).engine);
  cluster = await preparedCluster([image]);
}, 300_000);
afterAll(() => cluster.stop());

/** Kubernetes has no such network, so it accepts no such run. */
const noSuchNetwork = { local: { memory: null, cpus: null, network: "lan", env: {} } };

/** A scheduler's runner over the cluster, whose pods play scripts in the program's image. */
async function openRunner(leaseSeconds = 90) {
  const config = {
    get address() {
      return rig.configured({}).cluster().address;
    },
    namespace: null,
  };
  const kubeconfig = cluster.kubeconfig("almanac");
  const engine = createKubernetesEngine({ config, project, kubeconfig });
  const rig = await clusterRig({ engine, host: cluster.host });
  const runner = await rig.start({
    ...rig.configured({ leaseSeconds }),
    imageFor: () => Promise.resolve({ image, volumes: [] }),
    command: ({ agent: { name, title } }) => [
      program,
      "_remote-run",
      name,
      "--project",
      workDir,
      "--",
      "/bin/sh",
      "-c",
      scriptOf(title),
    ],
  });
  return { runner, records: rig.records, dispose: rig.dispose };
}

async function objectsOf(instanceId: string): Promise<readonly string[]> {
  const names = await cluster.kubectl("get", "jobs,pods,secrets", "-o", "name");
  return names.split("\n").filter((name) => name.includes(runName(instanceId)));
}

runnerContract("the cluster runner over Kubernetes", async () => {
  const { runner, records, dispose } = await openRunner();
  return {
    runner,
    request: (scenario) => aRequest(scenario, scenario === "cannot-start" ? noSuchNetwork : {}),
    leftovers: async (id) => [
      ...(await objectsOf(id)),
      ...(await records.list()).filter((one) => one === id),
    ],
    dispose,
  };
});

/** Runs a script; `onReady` is called with its node once it says something. */
async function befallen(
  script: string,
  onReady: (node: KubeNode) => Promise<unknown>,
  leaseSeconds = 10,
) {
  const { runner, dispose } = await openRunner(leaseSeconds);
  onTestFinished(dispose);
  const request: RunRequest = aRequest(`${log("ready")}; ${script}`);
  let befalls = Promise.resolve<unknown>(null);
  const run$ = runner.run(request, NEVER).pipe(
    tap((event) => {
      if (!messagesOf([event]).includes("ready")) return;
      befalls = nodeOf(request).then(onReady);
    }),
  );
  const events = await lastValueFrom(run$.pipe(toArray()));
  await befalls;
  return { events, exit: exitOf(events), gone: () => objectsOf(request.instanceId) };
}

async function nodeOf({ instanceId }: RunRequest): Promise<KubeNode> {
  const pod = ["pods", "-l", `al.run=${runName(instanceId)}`];
  const name = await cluster.kubectl("get", ...pod, "-o", "jsonpath={.items[0].spec.nodeName}");
  return cluster.nodes.find((node) => node.name === name) as KubeNode;
}

test("a run is lost once when its node fails, and its reason names the node", async () => {
  const { exit, gone } = await befallen(forever, async (node) => {
    await node.kill();
    onTestFinished(async () => {
      node.boot();
      await cluster.settled();
    });
  });
  expect(exit).toMatchObject({ lost: true, error: expect.stringMatching(/n[12]/) as string });
  await expect.poll(gone).toEqual([]);
}, 90_000);

test("a run is lost when its node evicts it, and its reason says so", async () => {
  const { exit } = await befallen(
    forever,
    (node) => {
      node.restartKubelet({ evictionHard: { "memory.available": "99%" } });
      onTestFinished(async () => {
        node.restartKubelet({});
        await cluster.settled();
      });
      return Promise.resolve();
    },
    60,
  );
  expect(exit).toMatchObject({ lost: true, error: expect.stringContaining("Evicted") as string });
}, 120_000);

test("a run continues while the API server is away, and is removed when that is back", async () => {
  const { events, exit, gone } = await befallen(`sleep 4; ${log("two")}; ${end()}`, async () => {
    await cluster.api.kill();
    void pause(6_000, "the API server is away").then(() => cluster.api.start());
  });
  expect(messagesOf(events)).toEqual(["ready", "two"]);
  expect(exit).toMatchObject({ exitCode: 0, error: null });
  await cluster.settled();
  await expect.poll(gone, { timeout: 30_000 }).toEqual([]);
}, 90_000);
