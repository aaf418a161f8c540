import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { ClusterEngine, Launch } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createDockerEngine } from "../../../../src/runtime/cluster/docker/docker-engine.ts";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { certificateAuthority } from "../../../helpers/certificate-authority.ts";
import { engineSetupMs, testBase, testEngine } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import type { StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { startSwarm } from "../../../helpers/swarm/swarm.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";
import { aLaunch, placed, secretTicket } from "../launches.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("runs on another machine's engine, over TLS", () => {
  const certificates = mkdtempSync(join(tmpdir(), "al-engine-"));
  const file = (name: string) => join(certificates, name);
  let swarm: TestSwarm;
  let node: SwarmNode;
  let engine: Engine;
  let door: StandInDoor;
  let cluster: ClusterEngine;
  const started: Launch[] = [];

  async function start(script: string, more: Partial<Launch> = {}): Promise<Launch> {
    const launch = aLaunch(script, door.address, more);
    started.push(launch);
    await cluster.start(launch);
    return launch;
  }

  /** The engine's own certificate, for its address alone, and its clients'. */
  function tlsArgs(address: string): readonly string[] {
    const authority = certificateAuthority();
    const [server, client] = [authority.issue(`IP:${address}`), authority.issue("client")];
    writeFileSync(file("ca.pem"), authority.cert);
    writeFileSync(file("server.key"), server.key);
    writeFileSync(file("server.crt"), server.cert);
    writeFileSync(file("key.pem"), client.key);
    writeFileSync(file("cert.pem"), client.cert);
    authority.remove();
    const own = [`--tlscert=${file("server.crt")}`, `--tlskey=${file("server.key")}`];
    return ["-H", `tcp://${address}:2376`, "--tlsverify", `--tlscacert=${file("ca.pem")}`, ...own];
  }

  beforeAll(async () => {
    swarm = await startSwarm(1, { from: machine, images: [testBase], args: tlsArgs });
    node = swarm.nodes[0] as SwarmNode;
    const host = `tcp://${node.address}:2376`;
    vi.stubEnv("DOCKER_HOST", host);
    vi.stubEnv("DOCKER_TLS_VERIFY", "1");
    vi.stubEnv("DOCKER_CERT_PATH", certificates);
    engine = connectEngine({ env: { DOCKER_HOST: host } });
    vi.unstubAllEnvs();
    door = await standInDoor(swarm.host);
    cluster = createDockerEngine({
      engine,
      project: "project1",
      config: { address: door.address },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
      relayCommand: door.relayCommand,
    });
    await cluster.ready();
  }, engineSetupMs);
  afterEach(async () => {
    for (const { name } of started.splice(0)) await cluster.remove(name);
  });
  afterAll(async () => {
    await swarm.stop();
    await door.close();
    rmSync(certificates, { recursive: true, force: true });
  });

  const port = () => door.address.split(":")[1] ?? "";
  const byDoor = (commands: string) => `exec 3<>/dev/tcp/al-door/${port()}; { ${commands}; } >&3`;

  it("reaches the door by the relay, and nothing else", async () => {
    const [host = ""] = door.address.split(":");
    const probes = [
      `timeout 2 bash -c 'echo >/dev/tcp/${host}/${port()}' || echo no door`,
      "timeout 2 bash -c 'echo >/dev/tcp/172.17.0.1/2376' || echo no machine",
      "getent hosts example.com || echo no name",
    ];
    await start(byDoor(probes.join("; ")));
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toMatch(/no name/);
    expect(door.heard()).toMatch(/no door[^]*no machine[^]*no name/);
  });

  it("reads its ticket, and nothing shows it", async () => {
    const launch = await start(`read -r line; ${byDoor('echo "$line"')}; sleep 60`);
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toContain(secretTicket);
    expect(door.heard()).toContain(`"door":"al-door:${port()}"`);
    const container = engine.calls().getContainer(launch.name);
    const shown = [
      await container.inspect(),
      String(await container.logs({ stdout: true, stderr: true })),
    ];
    expect(JSON.stringify(shown)).not.toContain(secretTicket);
  });

  it("asks its program to read the ticket", async () => {
    const launch = await start("true", {
      command: ["echo", "_remote-run", "dev", "--", "sh", "-c", "x"],
    });
    await placed(cluster, launch, { state: "ended" });
    const logs = await engine.calls().getContainer(launch.name).logs({ stdout: true });
    expect(String(logs)).toContain("_remote-run --ticket - dev -- sh -c x");
  });

  it("holds a run to its limits", async () => {
    const launch = await start("sleep 60");
    await placed(cluster, launch, { state: "running", node: "n1", problem: null, endings: 0 });
    const { Id } = await engine.calls().getContainer(launch.name).inspect();
    expect(node.limits(Id)).toEqual({ memoryBytes: 96 * 1024 ** 2, cpus: 0.5, pids: 512 });
  });

  it("has no rights, and programs start from its folders in memory alone", async () => {
    const script = "printf '#!/bin/sh\\necho it runs\\n' >x && chmod +x x && ./x";
    const folders = ["/workspace", "/tmp", "/home/al"].map((dir) => `cd ${dir}; ${script}`);
    const rights = "grep -E 'NoNewPrivs|CapBnd' /proc/self/status; touch /etc/x 2>&1; id -u";
    const socket = "touch /run/al/x && echo a place for its socket; echo done";
    await start(byDoor([...folders, rights, socket].join("; ")));
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toContain("done\n");
    expect(door.heard().match(/it runs/g)).toHaveLength(3);
    expect(door.heard()).toMatch(/CapBnd:\t0+\nNoNewPrivs:\t1\n/);
    expect(door.heard()).toMatch(/Read-only file system\n10001\na place for its socket\n/);
  });

  it("reports how a run ended", async () => {
    const failed = await start("exit 7");
    const problem = "its process ended with exit code 7";
    await placed(cluster, failed, { state: "ended", exitCode: 7, endings: 1, problem });
    const big = await start("node -e 'Buffer.alloc(3e8, 1)'");
    await placed(cluster, big, { state: "ended", outOfMemory: true });
  });

  it("says which image is missing", async () => {
    await expect(start("true", { image: "al-test-nowhere:1" })).rejects.toMatchObject({
      code: "image_missing",
      message: expect.stringContaining("has no image al-test-nowhere:1") as unknown,
    });
    expect(await cluster.list()).toEqual([]);
  });

  it("removing a run twice is not an error", async () => {
    const launch = await start("trap '' TERM; while true; do sleep 1; done");
    await placed(cluster, launch, { state: "running" });
    await cluster.remove(launch.name);
    await cluster.remove(launch.name);
    expect(await cluster.list()).toEqual([]);
  });

  it("is away with its engine; its relay is back with it", async () => {
    await node.kill();
    await expect(cluster.list()).rejects.toMatchObject({ code: "engine_unreachable" });
    await node.boot();
    await cluster.ready();
    await start(byDoor("echo back"));
    await expect.poll(() => door.heard(), { timeout: 20_000 }).toMatch(/back\n/);
  }, 90_000);
});
