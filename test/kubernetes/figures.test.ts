import { readFileSync } from "node:fs";
import { createKubernetesEngine } from "../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { preparedCluster } from "./live-side.ts";
import { door, project, scriptLaunch } from "./side.ts";

/** By hand: AL_RUNS=100. */
const most = Number(process.env.AL_RUNS ?? 20);

test(`how long ${most} runs at once take in Kubernetes`, async () => {
  const cluster = await preparedCluster();
  onTestFinished(() => cluster.stop());
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
}, 800_000);
