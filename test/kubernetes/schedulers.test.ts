import { testEngine } from "../helpers/docker.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import { forAll, slowly } from "../helpers/live-project.ts";
import { programImage } from "../helpers/swarm/program-image.ts";
import { createRounds } from "../runtime/cluster/rounds.ts";
import { roundsProject } from "../runtime/cluster/rounds-project.ts";
import { witness } from "../runtime/cluster/witness.ts";
import { nothingLeft, preparedCluster } from "./live-side.ts";

const turns = 4;
const agents = ["ada"];
const options = { engine: "kubernetes", agents, leaseSeconds: 20 } as const;

describe("al start with a Kubernetes", () => {
  let cluster: LiveCluster;
  let image: string;

  forAll(async () => {
    image = await programImage((await testEngine()).engine);
    cluster = await preparedCluster([image]);
  }, 300_000);
  afterAll(() => cluster.stop());

  /** A scheduler of its own in the namespace, whose runs take at most `turns` times `pauseMs` and some seconds. */
  async function scheduler(doorPort: number, pauseMs: number, timeout?: number) {
    const model = await witness(turns, pauseMs);
    onTestFinished(() => model.close());
    const { baseUrl } = model;
    const address = `${cluster.host}:${doorPort}`;
    const project = await roundsProject({ ...options, baseUrl, address, image });
    if (timeout !== undefined)
      await project.edit("agents/ada/config.toml", "timeout = 300", `timeout = ${timeout}`);
    const environment = { env: { KUBECONFIG: cluster.kubeconfig("almanac") } };
    await project.start(environment);
    const rounds = createRounds({
      project: () => project,
      model: () => model,
      agents,
      turns,
      quietMs: 120_000,
    });
    return { project, environment, ...rounds };
  }

  /** UID and project of each pod that runs, sorted. */
  async function runningPods(): Promise<readonly string[]> {
    const each = "{.metadata.uid} {.metadata.labels.al\\.project}";
    const path = `jsonpath={range .items[?(@.status.phase=="Running")]}${each}{"\\n"}{end}`;
    const pods = await cluster.kubectl("get", "pods", "-o", path);
    return pods.trim().split("\n").sort();
  }
  const projectsOf = (pods: readonly string[]) =>
    new Set(pods.map((pod) => pod.slice(pod.indexOf(" "))));

  test("a run's timeout ends its pod in the middle of a command, once, and leaves no object", async () => {
    const { project, trigger, quiet } = await scheduler(7443, 200_000, 15);
    await trigger(1);
    await expect.poll(runningPods, slowly).toEqual([expect.stringMatching(/ /)]);
    expect(await quiet()).toMatchObject([
      {
        outcome: "timed_out",
        attempt: 1,
        reason: expect.stringMatching(/^ran longer than its timeout of 15 s/) as string,
      },
    ]);
    await nothingLeft(cluster);
    expect(await project.history()).toHaveLength(1);
    expect(await project.messages("ada", "tool")).toHaveLength(1);
  }, 200_000);

  test("schedulers of one namespace run, adopt and remove only their own runs", async () => {
    const [one, two] = await Promise.all([scheduler(7443, 10_000), scheduler(7444, 10_000)]);
    await Promise.all([one.trigger(3), two.trigger(3)]);
    await expect.poll(async () => (await runningPods()).length, slowly).toBe(6);
    const before = await runningPods();
    expect(projectsOf(before).size).toBe(2);
    // The first one that starts removes what no scheduler has a record of: those of the other are not its own.
    await two.project.scheduler.kill();
    await one.project.crash(one.environment);
    expect(await runningPods()).toEqual(before);
    await two.project.start(two.environment);
    for (const { check, quiet } of [one, two]) {
      await check();
      const done = { outcome: "succeeded", attempt: 1 };
      expect(await quiet()).toMatchObject([done, done, done]);
    }
    await nothingLeft(cluster);
  }, 300_000);
});
