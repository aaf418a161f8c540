import { readFileSync } from "node:fs";
import { createKubernetesEngine } from "../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { chatEvents } from "../e2e/model-project.ts";
import { testEngine } from "../helpers/docker.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { forAll } from "../helpers/live-project.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { logsByRun, roundsProject } from "../runtime/cluster/rounds-project.ts";
import { fakeProvider } from "../runtime/harness/fake-provider.ts";
import { preparedCluster } from "./live-side.ts";
import { door, project, scriptLaunch } from "./side.ts";
import { podWatch, stopwatch } from "./stopwatch.ts";
import { pause } from "../helpers/pause.ts";

/** By hand: AL_RUNS=100. */
const most = Number(process.env.AL_RUNS ?? 20);

describe("how long Kubernetes takes", () => {
  let cluster: LiveCluster;
  let image: string;
  forAll(async () => {
    image = await programImage((await testEngine()).engine);
    cluster = await preparedCluster([image]);
  }, 300_000);
  afterAll(() => cluster.stop());

  test("from the trigger of a run to its first request to a model", async () => {
    const asked = Promise.withResolvers<number>();
    const provider = await fakeProvider((_request, response) => {
      asked.resolve(Date.now());
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(chatEvents({ role: "assistant", content: "done" }));
    });
    const podIs = podWatch(cluster, "al.run");
    const time = stopwatch("a run");
    const live = await roundsProject({
      engine: "kubernetes",
      address: `${cluster.host}:7443`,
      baseUrl: provider.baseUrl,
      image,
      agents: ["ada"],
      leaseSeconds: 20,
    });
    const { api } = await live.start({ env: { KUBECONFIG: cluster.kubeconfig("almanac") } });
    time.part("al start");
    expect((await api("/control/trigger/ada", { method: "POST" })).status).toBe(202);
    await podIs(() => true);
    time.part("Job, Secret, pod");
    await podIs((pod) => pod.spec?.nodeName !== undefined);
    time.part("a node is found");
    const isClaimed = async () =>
      [...(await logsByRun(live.dir)).values()].some((all) => all.some((each) => "node" in each));
    while (!(await isClaimed())) await pause(20, "it is asked again");
    time.part("its container runs and claims its job");
    time.part("first request", await asked.promise);
    time.print();
    await live.scheduler.kill();
    await provider.close();
    await cluster.kubectl("delete", "jobs,pods", "--all", "--force");
  }, 120_000);

  test(`${most} runs at once`, async () => {
    const engine = createKubernetesEngine({
      config: { address: door, namespace: null },
      project,
      kubeconfig: cluster.kubeconfig("almanac"),
    });
    await engine.ready();
    const runs = Array.from({ length: most }, (_, index) =>
      scriptLaunch(`dev-${index}`, "sleep 1000"),
    );
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1_000;
    const rate = (took: number) => `${took.toFixed(1)} s, ${(most / took).toFixed(1)} a second`;
    await Promise.all(runs.map((run) => engine.start(run)));
    const accepted = seconds();
    const running = async () =>
      (await engine.list()).filter(({ state }) => state === "running").length;
    await expect.poll(running, { timeout: 300_000, interval: 500 }).toBe(most);
    const all = seconds();
    const [load = ""] = readFileSync("/proc/loadavg", "utf8").split(" ");
    await Promise.all(runs.map(({ name }) => engine.remove(name)));
    await expect.poll(async () => (await engine.list()).length, { timeout: 120_000 }).toBe(0);
    const removed = seconds() - all;
    process.stdout.write(
      `${most} runs: accepted after ${rate(accepted)}; all run after ${rate(all)}; removed after ${rate(removed)}; load ${load}\n`,
    );
  }, 500_000);
});
