import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ClusterEngine, Launch } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createSwarmEngine } from "../../../../src/runtime/cluster/swarm/swarm-engine.ts";
import { engineSetupMs, testBase, testEngine } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import type { StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { startSwarm } from "../../../helpers/swarm/swarm.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";
import { aLaunch, placed, secretTicket } from "../launches.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("runs on a Swarm of three nodes", () => {
  let swarm: TestSwarm;
  let door: StandInDoor;
  let cluster: ClusterEngine;
  const started: Launch[] = [];
  const node = (name: string | null) => swarm.nodes.find((each) => each.name === name) as SwarmNode;

  const onSwarm = (via: SwarmNode, project = "project1") =>
    createSwarmEngine({
      engine: via.engine,
      project,
      config: { address: door.address, subnet: "10.213.0.0/16" },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
      relayCommand: door.relayCommand,
    });

  async function start(script: string, more: Partial<Launch> = {}): Promise<Launch> {
    const launch = aLaunch(script, door.address, more);
    started.push(launch);
    await cluster.start(launch);
    return launch;
  }

  async function containersOf(on: SwarmNode, { name }: Launch): Promise<string[]> {
    const filters = { label: [`com.docker.swarm.service.name=${name}`] };
    const found = await on.engine.calls().listContainers({ all: true, filters });
    return found.map(({ Id }) => Id);
  }

  beforeAll(async () => {
    swarm = await startSwarm(3, { from: engine, images: [testBase] });
    door = await standInDoor(swarm.host);
    cluster = onSwarm(swarm.nodes[0] as SwarmNode);
    await cluster.ready();
  }, engineSetupMs);
  afterEach(async () => {
    for (const { name } of started.splice(0)) await cluster.remove(name);
  });
  afterAll(async () => {
    await swarm.stop();
    await door.close();
  });

  /** The part of a script that has its output noted by the door, through the relay. */
  const byDoor = (commands: string) =>
    `exec 3<>/dev/tcp/al-door/${door.address.split(":")[1] ?? ""}; { ${commands}; } >&3 2>&1`;

  it("reaches the door by the relay, and nothing else", async () => {
    const [host = "", port = ""] = door.address.split(":");
    const probes = [
      `timeout 2 bash -c 'echo >/dev/tcp/${host}/${port}' || echo no door`,
      "timeout 2 bash -c 'echo >/dev/tcp/172.17.0.1/22' || echo no node",
      "getent hosts example.com || echo no name",
    ];
    await start(byDoor(probes.join("; ")));
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toMatch(/no name/);
    expect(door.heard()).toMatch(/no door[^]*no node[^]*no name/);
  });

  it("has its ticket in a file of its own, and nothing shows it", async () => {
    const launch = await start(
      `${byDoor("stat -c '%U %u %a' /run/secrets/al-run; cat /run/secrets/al-run; env")}; sleep 60`,
    );
    const { heard } = door;
    const run = await placed(cluster, launch, { state: "running" });
    const [container = ""] = await containersOf(node(run.node), launch);
    await expect.poll(heard, { timeout: 10_000 }).toContain(`AL_INSTANCE=${launch.instanceId}`);
    expect(heard()).toContain(" 10001 400");
    expect(heard()).toContain(secretTicket);
    expect(heard()).toContain(`"door":"al-door:${door.address.split(":")[1] ?? ""}"`);
    const calls = node(run.node).engine.calls();
    const shown = await Promise.all([
      calls.getContainer(container).inspect(),
      calls.getContainer(container).logs({ stdout: true, stderr: true }),
      calls.listServices(),
      calls.listTasks(),
      calls.listSecrets(),
    ]);
    expect(JSON.stringify(shown)).not.toContain(secretTicket);
    expect(JSON.stringify(shown)).not.toContain(Buffer.from(secretTicket).toString("base64"));
  });

  it("holds a run to its limits on the node that it is on", async () => {
    const launches: Launch[] = [];
    for (const { name } of swarm.nodes) {
      launches.push(await start("sleep 60", { place: [`node.hostname==${name}`] }));
    }
    const runs = await Promise.all(
      launches.map((launch) => placed(cluster, launch, { state: "running", problem: null })),
    );
    expect(runs.map((run) => run.node).sort()).toEqual(["n1", "n2", "n3"]);
    for (const [index, launch] of launches.entries()) {
      const on = node(runs[index]?.node ?? null);
      const [container = ""] = await containersOf(on, launch);
      expect(on.limits(container)).toEqual({ memoryBytes: 96 * 1024 ** 2, cpus: 0.5, pids: 512 });
    }
  });

  it("has no rights, and programs start from its folders in memory alone", async () => {
    const script = "printf '#!/bin/sh\\necho it runs\\n' >x && chmod +x x && ./x";
    const folders = ["/workspace", "/tmp", "/home/al"].map((dir) => `cd ${dir}; ${script}`);
    const rights = "grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status; touch /etc/x; id -u";
    const sizes = "df --output=target,size | grep -E '^/(workspace|tmp|home/al|run/al) '";
    await start(byDoor([...folders, rights, sizes, "echo done"].join("; ")));
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toContain("done\n");
    const heard = door.heard();
    expect(heard.match(/it runs/g)).toHaveLength(3);
    expect(heard).toMatch(/CapBnd:\t0+\n/);
    expect(heard).toMatch(/NoNewPrivs:\t1\n/);
    expect(heard).toMatch(/Read-only file system\n10001\n/);
    expect(heard).toMatch(/\/workspace +49152\n/);
    expect(heard).toMatch(/\/run\/al +1024\n/);
  });

  it("reports how a run ended", async () => {
    const launch = await start("exit 7");
    const run = await placed(cluster, launch, { state: "ended" });
    expect(run).toMatchObject({ exitCode: 7, problem: "task: non-zero exit (7)" });
    // It may have failed with its node, before it began.
    await placed(cluster, launch, { state: "ended", endings: 3 });
    const fine = await start("true");
    await placed(cluster, fine, { state: "ended", exitCode: 0, problem: null });
  });

  it("says which image is missing, and that waiting is of no use", async () => {
    const launch = await start("true", { image: "al-test-nowhere:1" });
    const run = await placed(cluster, launch, { state: "ended", isHopeless: true });
    expect(run.problem).toBe("No such image: al-test-nowhere:1");
    expect(run.exitCode).toBeNull();
  });

  it("says why a run waits, and where it may be placed", async () => {
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

  it("refuses a network that is not there", async () => {
    const limits = { memory: "96m", cpus: 0.5, network: "nowhere" };
    await expect(start("true", { limits })).rejects.toThrow(/network nowhere not found/);
    expect(await cluster.list()).toEqual([]);
    const secrets = await swarm.nodes[0]?.engine.calls().listSecrets();
    expect(secrets).toEqual([]);
  });

  it("removes a run at once with everything left of it; removing it twice is not an error", async () => {
    const launch = await start("trap '' TERM; while true; do sleep 1; done");
    const { node: name } = await placed(cluster, launch, { state: "running" });
    await cluster.remove(launch.name);
    await cluster.remove(launch.name);
    expect(await cluster.list()).toEqual([]);
    expect(await node(name).engine.calls().listSecrets()).toEqual([]);
    const left = () => containersOf(node(name), launch);
    await expect.poll(left, { timeout: 40_000 }).toEqual([]);
  }, 60_000);

  it("lists the project's own runs alone, by any manager", async () => {
    const launch = await start("sleep 60");
    await placed(onSwarm(swarm.nodes[2] as SwarmNode), launch, { state: "running" });
    expect(await onSwarm(swarm.nodes[0] as SwarmNode, "project2").list()).toEqual([]);
  });

  it("rejects with what to do when the engine is in no Swarm", async () => {
    const alone = createSwarmEngine({
      engine,
      project: "project1",
      config: { address: door.address, subnet: "10.213.0.0/16" },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
    });
    await expect(alone.ready()).rejects.toMatchObject({ code: "not_a_swarm_manager" });
  });

  it("is away with its engine, and there by any other manager", async () => {
    const [first, second] = swarm.nodes as [SwarmNode, SwarmNode];
    const launch = await start("sleep 300", { place: ["node.hostname==n2"] });
    await placed(cluster, launch, { state: "running" });
    await first.kill();
    await expect(cluster.list()).rejects.toMatchObject({ code: "engine_unreachable" });
    const other = onSwarm(second);
    await expect
      .poll(() => other.list(), { timeout: 60_000 })
      .toMatchObject([{ instanceId: launch.instanceId, state: "running" }]);
    await first.boot();
    await swarm.settled();
    await placed(cluster, launch, { state: "running" });
  }, 90_000);
});
