import type { ClusterEngine, Launch } from "../../../../src/runtime/cluster/cluster-engine.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import type { StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { aLaunch, placed, secretTicket } from "../launches.ts";

export interface ContractSide {
  readonly cluster: ClusterEngine;
  readonly door: StandInDoor;
  readonly nodes: readonly SwarmNode[];
}

/** An engine whose runs are containers, as every test of it uses it. */
export function containerEngineTest(side: () => ContractSide) {
  const started: Launch[] = [];
  afterEach(async () => {
    for (const { name } of started.splice(0)) await side().cluster.remove(name);
  });
  const port = () => side().door.address.split(":")[1] ?? "";
  const heard = () => side().door.heard();
  return {
    start: async (script: string, more: Partial<Launch> = {}): Promise<Launch> => {
      const launch = aLaunch(script, side().door.address, more);
      started.push(launch);
      await side().cluster.start(launch);
      return launch;
    },
    /** The part of a script that has its output noted by the door, through the relay. */
    byDoor: (commands: string) => `exec 3<>/dev/tcp/al-door/${port()}; { ${commands}; } >&3 2>&1`,
    hears: async (text: string): Promise<string> => {
      await expect.poll(heard).toContain(text);
      return heard();
    },
    nodeOf: async (launch: Launch): Promise<SwarmNode> => {
      const { node } = await placed(side().cluster, launch, { state: "running", problem: null });
      const [only, ...others] = side().nodes;
      if (others.length === 0) return only as SwarmNode;
      return side().nodes.find(({ name }) => name === node) as SwarmNode;
    },
  };
}

/** The promises that each engine with containers keeps. `containerOf` finds a run's container on its node. */
export function containerEngineContract(
  side: () => ContractSide,
  { start, byDoor, hears, nodeOf }: ReturnType<typeof containerEngineTest>,
  containerOf: (node: SwarmNode, launch: Launch) => Promise<string>,
): void {
  test("lets a closed run reach the door by the relay, and nothing else", async () => {
    const [host = "", port = ""] = side().door.address.split(":");
    const probes = [
      `timeout 2 bash -c 'echo >/dev/tcp/${host}/${port}' || echo no door`,
      "timeout 2 bash -c 'echo >/dev/tcp/172.17.0.1/2376' || echo no machine",
      "getent hosts example.com || echo no name",
    ];
    await start(byDoor([...probes, "echo probed"].join("; ")));
    expect(await hears("probed")).toMatch(/no door[^]*no machine[^]*no name/);
  });

  test("gives a run its ticket, and shows it to no client", async () => {
    const script = "cat /run/secrets/al-run 2>/dev/null || { read -r line; echo $line; }; env";
    const launch = await start(`${byDoor(script)}; sleep 60`);
    const node = await nodeOf(launch);
    const heard = await hears(`AL_INSTANCE=${launch.instanceId}`);
    expect(heard).toContain(secretTicket);
    expect(heard).toContain(`"door":"al-door:${side().door.address.split(":")[1] ?? ""}"`);
    const calls = node.engine.calls();
    const container = calls.getContainer(await containerOf(node, launch));
    const lists = [calls.listServices(), calls.listTasks(), calls.listSecrets()];
    const shown = JSON.stringify([
      await container.inspect(),
      String(await container.logs({ stdout: true, stderr: true })),
      await Promise.allSettled(lists),
    ]);
    expect(shown).not.toContain(secretTicket);
    expect(shown).not.toContain(Buffer.from(secretTicket).toString("base64"));
  });

  test("holds a run to its limits on each machine", async () => {
    for (const { name } of side().nodes) {
      const place = side().nodes.length > 1 ? [`node.hostname==${name}`] : [];
      const launch = await start("sleep 60", { place });
      const node = await nodeOf(launch);
      expect(node.name).toBe(name);
      const limits = node.limits(await containerOf(node, launch));
      expect(limits).toEqual({ memoryBytes: 96 * 1024 ** 2, cpus: 0.5, pids: 512 });
    }
  });

  test("gives a run no privileges, and programs in its own folders alone", async () => {
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

  test("removes a run at once; removing it twice is not an error", async () => {
    const { cluster, nodes } = side();
    const launch = await start("trap '' TERM; while true; do sleep 1; done");
    await placed(cluster, launch, { state: "running" });
    await cluster.remove(launch.name);
    await cluster.remove(launch.name);
    expect(await cluster.list()).toEqual([]);
    const secrets = await nodes[0]?.engine
      .calls()
      .listSecrets()
      .catch(() => []);
    expect(secrets).toEqual([]);
  });
}
