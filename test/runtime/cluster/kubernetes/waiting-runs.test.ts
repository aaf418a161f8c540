import { expect, it } from "vitest";
import { engineTest, launch, runOnce } from "./support.ts";

it("shows why no machine takes a run, and runs it once one does", async () => {
  const { engine, cluster, pods } = await engineTest({ nodes: [{ name: "small" }] });
  const [node] = cluster.nodes;
  if (node !== undefined) node.isSchedulable = false;
  await engine.start(launch("dev"));
  expect(await runOnce(engine, (run) => run?.problem !== null)).toMatchObject({
    state: "waiting",
    problem: "Unschedulable: 0/1 nodes are available: 1 node(s) were unschedulable.",
    isHopeless: false,
  });
  if (node !== undefined) node.isSchedulable = true;
  await runOnce(engine, (run) => run?.state === "running");
  expect(pods.all).toHaveLength(1);
});

it("places runs where their labels and reservations fit", async () => {
  const mb = 1024 ** 2;
  const agents = { agents: "yes" };
  const nodes = [
    { name: "other", memoryBytes: 10_000 * mb },
    { name: "agents-1", labels: agents, memoryBytes: 300 * mb },
    { name: "agents-2", labels: agents, memoryBytes: 600 * mb },
  ];
  const { engine } = await engineTest({ nodes });
  for (const id of ["a", "b", "c", "d"]) await engine.start(launch(id, { place: ["agents=yes"] }));
  await expect
    .poll(async () => (await engine.list()).map(({ node }) => node).sort())
    .toEqual(["agents-1", "agents-2", "agents-2", null]);
  const waiting = (await engine.list()).find(({ node }) => node === null);
  expect(waiting?.problem).toContain("Insufficient memory");
});

it("rejects an image only after it could not be pulled three times", async () => {
  const { engine } = await engineTest({ images: ["another:1"], secondMs: 1_000 });
  await engine.start(launch("dev"));
  const last = await runOnce(engine, (run) => {
    expect(run?.isHopeless).toBe((run?.endings ?? 0) >= 3);
    return run?.isHopeless === true;
  });
  expect(last).toMatchObject({ state: "waiting", isHopeless: true });
  expect(last?.problem).toContain('"al-agent:1"');
});

it("shows the cluster's objection to a pod, and runs it once that ends", async () => {
  let quota = ["exceeded quota: agents, requested: pods=1, used: pods=10, limited: pods=10"];
  const { engine } = await engineTest({ admit: () => quota });
  await engine.start(launch("dev"));
  const waiting = await runOnce(engine, (run) => run?.problem !== null);
  expect(waiting).toMatchObject({ state: "waiting", node: null, isHopeless: false });
  expect(waiting?.problem).toMatch(/is forbidden: exceeded quota: agents/);
  quota = [];
  expect(await runOnce(engine, (run) => run?.state === "running")).toMatchObject({ problem: null });
});

it("reports that a run had no memory left", async () => {
  const { engine, pods } = await engineTest();
  await engine.start(launch("dev"));
  await runOnce(engine, (run) => run?.state === "running");
  pods.all[0]?.end({ exitCode: 137, reason: "OOMKilled" });
  expect(await runOnce(engine, (run) => run?.state === "ended")).toMatchObject({
    exitCode: 137,
    outOfMemory: true,
    problem: "OOMKilled, exit code 137",
  });
});

it("ends a run that waits beyond every deadline, and deletes a forgotten Job", async () => {
  // A second of 1 µs: the deadline is thirty days.
  const { engine, cluster } = await engineTest({ secondMs: 0.001, images: [] });
  await engine.start(launch("dev"));
  const ended = await runOnce(engine, (run) => run === undefined || run.state === "ended");
  if (ended !== undefined) expect(ended.problem).toContain("DeadlineExceeded");
  await expect.poll(() => cluster.store.list("jobs")).toEqual([]);
});
