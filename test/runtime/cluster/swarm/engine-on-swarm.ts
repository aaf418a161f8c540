import type { ClusterEngine, Launch } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createSwarmEngine } from "../../../../src/runtime/cluster/swarm/swarm-engine.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { isLong } from "../../../helpers/long.ts";
import { engineSetupMs, testBase } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor, type StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { containerEngineContract, containerEngineTest } from "../docker/engine-contract.ts";
import { placed } from "../launches.ts";
import type { SharedSwarm } from "./shared-swarm.ts";

/** The engine of clusters itself. Its last test kills a node. */
export function engineOnSwarm(shared: () => SharedSwarm): void {
  let door: StandInDoor;
  let cluster: ClusterEngine;
  const node = (index: number) => shared().swarm.nodes[index] as SwarmNode;
  const side = () => ({ cluster, door, nodes: shared().swarm.nodes });
  const { start, ...test } = containerEngineTest(side);

  const onSwarm = (engine: Engine, project = "project1") =>
    createSwarmEngine({
      engine,
      project,
      config: { address: door.address, subnet: "10.215.0.0/16" },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
      relayCommand: door.relayCommand,
    });

  async function containersOf(on: SwarmNode, { name }: Launch): Promise<string[]> {
    const filters = { label: [`com.docker.swarm.service.name=${name}`] };
    const found = await on.engine.calls().listContainers({ all: true, filters });
    return found.map(({ Id }) => Id);
  }

  beforeAll(async () => {
    door = await standInDoor(shared().swarm.host);
    cluster = onSwarm(node(0).engine);
    await cluster.ready();
  }, engineSetupMs);
  afterAll(() => door.close());

  containerEngineContract(side, { start, ...test }, async (node, launch) => {
    const [container = ""] = await containersOf(node, launch);
    return container;
  });

  it("gives a run its ticket in a file for its user alone", async () => {
    await start(test.byDoor("stat -c '%u %a' /run/secrets/al-run"));
    await test.hears("10001 400\n");
  });

  it("reports how a run ended", async () => {
    const launch = await start("exit 7");
    const run = await placed(cluster, launch, { state: "ended" });
    expect(run).toMatchObject({ exitCode: 7, problem: "task: non-zero exit (7)" });
    // It may have failed with its node, before it began.
    if (isLong) await placed(cluster, launch, { state: "ended", endings: 3 });
    const fine = await start("true");
    await placed(cluster, fine, { state: "ended", exitCode: 0, problem: null });
  });

  it("names the missing image, and rejects the run at once", async () => {
    const launch = await start("true", { image: "al-test-nowhere:1" });
    const run = await placed(cluster, launch, { state: "ended", isHopeless: true });
    expect(run.problem).toBe("No such image: al-test-nowhere:1");
    expect(run.exitCode).toBeNull();
  });

  it("reports why a run waits, and honours its place", async () => {
    const nowhere = await start("sleep 60", { place: ["node.labels.disk==fast"] });
    const run = await placed(cluster, nowhere, { state: "waiting", node: null });
    await expect
      .poll(async () => (await placed(cluster, nowhere, {})).problem)
      .toMatch(/^no suitable node \(scheduling constraints/);
    expect(run.endings).toBe(0);
    const there = await start("sleep 60", { place: ["node.hostname==n2"] });
    await placed(cluster, there, { state: "running", node: "n2" });
    const limits = { memory: "4000g", cpus: 1, network: "none" };
    const big = await start("true", { limits, reserve: { memory: "4000g", cpus: 1 } });
    await expect
      .poll(async () => (await placed(cluster, big, { state: "waiting" })).problem)
      .toMatch(/insufficient resources/);
  });

  it("rejects a missing network", async () => {
    const limits = { memory: "96m", cpus: 0.5, network: "nowhere" };
    await expect(start("true", { limits })).rejects.toThrow(/network nowhere not found/);
    expect(await cluster.list()).toEqual([]);
    const secrets = await node(0).engine.calls().listSecrets();
    expect(secrets).toEqual([]);
  });

  it("lists only the project's own runs, by any manager", async () => {
    const launch = await start("sleep 60");
    await placed(onSwarm(node(2).engine), launch, { state: "running" });
    expect(await onSwarm(node(0).engine, "project2").list()).toEqual([]);
  });

  it("rejects an engine outside of a Swarm with a hint", async () => {
    const alone = onSwarm(shared().machine);
    await expect(alone.ready()).rejects.toMatchObject({ code: "not_a_swarm_manager" });
  });

  it("is away with one engine, and reachable by any other manager", async () => {
    const [first, second] = [node(0), node(1)];
    const launch = await start("sleep 300", { place: ["node.hostname==n2"] });
    await placed(cluster, launch, { state: "running" });
    await first.kill();
    await expect(cluster.list()).rejects.toMatchObject({ code: "engine_unreachable" });
    const other = onSwarm(second.engine);
    await expect
      .poll(() => other.list(), { timeout: 60_000 })
      .toMatchObject([{ instanceId: launch.instanceId, state: "running" }]);
    await first.boot();
    await shared().swarm.settled(120_000);
    await placed(cluster, launch, { state: "running" });
  }, 300_000);
}
