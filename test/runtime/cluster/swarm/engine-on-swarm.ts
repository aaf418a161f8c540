import { randomUUID } from "node:crypto";
import type {
  ClusterEngine,
  Launch,
  PlacedRun,
} from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createSwarmEngine } from "../../../../src/runtime/cluster/swarm/swarm-engine.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { isLong } from "../../../helpers/long.ts";
import { engineSetupMs, testBase } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor, type StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { scriptLaunch } from "../../../kubernetes/side.ts";
import type { SharedSwarm } from "./shared-swarm.ts";

/** A secret that no client of the engine may see. */
const secretTicket = "t1cket-that-is-worth-a-claim";

/** The engine of clusters itself. Its last test kills a node. */
export function engineOnSwarm(shared: () => SharedSwarm): void {
  let door: StandInDoor;
  let cluster: ClusterEngine;
  const nodes = () => shared().swarm.nodes;
  const node = (index: number) => nodes()[index] as SwarmNode;
  const started: Launch[] = [];

  const onSwarm = (engine: Engine, project = "project1") =>
    createSwarmEngine({
      engine,
      project,
      config: { address: door.address, subnet: "10.215.0.0/16" },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
      relayCommand: door.relayCommand,
    });

  async function start(script: string, more: Partial<Launch> = {}): Promise<Launch> {
    const launch = scriptLaunch(`dev-${randomUUID().slice(0, 8)}`, script, {
      image: testBase,
      limits: { memory: "96m", cpus: 0.5, network: "none" },
      ticket: JSON.stringify({
        door: door.address,
        certificate: "pem",
        name: "n",
        ticket: secretTicket,
      }),
      ...more,
    });
    started.push(launch);
    await cluster.start(launch);
    return launch;
  }

  async function nodeOf(launch: Launch): Promise<SwarmNode> {
    const run = await placed(cluster, launch, { state: "running", problem: null });
    return nodes().find(({ name }) => name === run.node) as SwarmNode;
  }

  /** A run's container on its node. */
  async function containerOf(on: SwarmNode, { name }: Launch): Promise<string> {
    const filters = { label: [`com.docker.swarm.service.name=${name}`] };
    const [found] = await on.engine.calls().listContainers({ all: true, filters });
    return found?.Id ?? "";
  }

  const doorPort = () => door.address.split(":")[1] ?? "";
  /** The part of a script that has its output noted by the door, through the relay. */
  const byDoor = (commands: string) =>
    `exec 3<>/dev/tcp/al-door/${doorPort()}; { ${commands}; } >&3 2>&1`;

  async function hears(text: string): Promise<string> {
    await expect.poll(door.heard).toContain(text);
    return door.heard();
  }

  beforeAll(async () => {
    door = await standInDoor(shared().swarm.host);
    cluster = onSwarm(node(0).engine);
    await cluster.ready();
  }, engineSetupMs);
  afterAll(() => door.close());

  afterEach(async () => {
    for (const { name } of started.splice(0)) await cluster.remove(name);
  });

  it("lets a closed run reach the door by the relay, and nothing else", async () => {
    const [host = "", port = ""] = door.address.split(":");
    const probes = [
      `timeout 2 bash -c 'echo >/dev/tcp/${host}/${port}' || echo no door`,
      "timeout 2 bash -c 'echo >/dev/tcp/172.17.0.1/2376' || echo no machine",
      "getent hosts example.com || echo no name",
    ];
    await start(byDoor([...probes, "echo probed"].join("; ")));
    expect(await hears("probed")).toMatch(/no door[^]*no machine[^]*no name/);
  });

  it("gives a run its ticket in a file for its user alone, and shows it to no client", async () => {
    const script = "stat -c '%u %a' /run/secrets/al-run; cat /run/secrets/al-run; env";
    const launch = await start(`${byDoor(script)}; sleep 60`);
    const on = await nodeOf(launch);
    const heard = await hears(`AL_INSTANCE=${launch.instanceId}`);
    expect(heard).toContain("10001 400\n");
    expect(heard).toContain(secretTicket);
    expect(heard).toContain(`"door":"al-door:${doorPort()}"`);
    const calls = on.engine.calls();
    const container = calls.getContainer(await containerOf(on, launch));
    const lists = [calls.listServices(), calls.listTasks(), calls.listSecrets()];
    const shown = JSON.stringify([
      await container.inspect(),
      String(await container.logs({ stdout: true, stderr: true })),
      await Promise.allSettled(lists),
    ]);
    expect(shown).not.toContain(secretTicket);
    expect(shown).not.toContain(Buffer.from(secretTicket).toString("base64"));
  });

  it("holds a run to its limits on each machine", async () => {
    for (const { name } of nodes()) {
      const launch = await start("sleep 60", { place: [`node.hostname==${name}`] });
      const on = await nodeOf(launch);
      expect(on.name).toBe(name);
      const limits = on.limits(await containerOf(on, launch));
      expect(limits).toEqual({ memoryBytes: 96 * 1024 ** 2, cpus: 0.5, pids: 512 });
    }
  });

  it("gives a run no privileges, and programs in its own folders alone", async () => {
    const script = "printf '#!/bin/sh\\necho it runs\\n' >x && chmod +x x && ./x";
    const folders = ["/workspace", "/tmp", "/home/al"].map((dir) => `cd ${dir}; ${script}`);
    const rights = "grep -E 'NoNewPrivs|CapBnd' /proc/self/status; touch /etc/x; id -u";
    const socket = "touch /run/al/x && echo a place for its socket";
    const sizes = "df --output=target,size | grep -E '^/(workspace|tmp|home/al|run/al) '";
    await start(byDoor([...folders, rights, socket, sizes, "echo done"].join("; ")));
    const heard = await hears("done\n");
    expect(heard.match(/it runs/g)).toHaveLength(3);
    expect(heard).toMatch(/CapBnd:\t0+\nNoNewPrivs:\t1\n/);
    expect(heard).toMatch(/Read-only file system\n10001\na place for its socket\n/);
    expect(heard).toMatch(/\/workspace +49152\n/);
    expect(heard).toMatch(/\/run\/al +1024\n/);
  });

  it("removes a run at once; removing it twice is not an error", async () => {
    const launch = await start("trap '' TERM; while true; do sleep 1; done");
    await placed(cluster, launch, { state: "running" });
    await cluster.remove(launch.name);
    await cluster.remove(launch.name);
    expect(await cluster.list()).toEqual([]);
    const secrets = await node(0).engine.calls().listSecrets();
    expect(secrets).toEqual([]);
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
    const listed = () => cluster.list().catch((error: unknown) => error);
    // A killed engine answers until the kernel has ended its threads.
    await expect.poll(listed).toMatchObject({ code: "engine_unreachable" });
    const other = onSwarm(second.engine);
    await expect
      .poll(() => other.list(), { timeout: 60_000 })
      .toMatchObject([{ instanceId: launch.instanceId, state: "running" }]);
    await first.boot();
    await shared().swarm.settled(120_000);
    await placed(cluster, launch, { state: "running" });
  }, 300_000);
}

/** The run as the engine lists it, once it is as expected. */
async function placed(
  cluster: ClusterEngine,
  { instanceId }: Launch,
  expected: Partial<PlacedRun>,
): Promise<PlacedRun> {
  let found: PlacedRun | undefined;
  const look = async () => {
    found = (await cluster.list()).find((run) => run.instanceId === instanceId);
    return found;
  };
  await expect.poll(look, { interval: 200 }).toMatchObject(expected);
  if (found === undefined) throw new Error("the run is not there");
  return found;
}
