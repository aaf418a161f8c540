import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterEngine } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createDockerEngine } from "../../../../src/runtime/cluster/docker/docker-engine.ts";
import { connectEngine, type Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { certificateAuthority } from "../../../helpers/certificate-authority.ts";
import { engineSetupMs, testBase, testEngine } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor, type StandInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { startSwarm, type TestSwarm } from "../../../helpers/swarm/swarm.ts";
import { placed } from "../launches.ts";
import { containerEngineContract, containerEngineTest } from "./engine-contract.ts";
import { like } from "../../../helpers/like.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("the engine of another machine, over TLS,", () => {
  const certificates = mkdtempSync(join(tmpdir(), "al-engine-"));
  const file = (name: string) => join(certificates, name);
  let swarm: TestSwarm;
  let node: SwarmNode;
  let engine: Engine;
  let door: StandInDoor;
  let cluster: ClusterEngine;
  const side = () => ({ cluster, door, nodes: [node] });
  const { start, ...test } = containerEngineTest(side);
  const { byDoor, hears } = test;

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

  const hostOf = ({ address }: SwarmNode) => `tcp://${address}:2376`;

  /** A client of the engine reads these when it is made: at first, and after each failure. */
  function stubEnv(): void {
    vi.stubEnv("DOCKER_HOST", hostOf(node));
    vi.stubEnv("DOCKER_TLS_VERIFY", "1");
    vi.stubEnv("DOCKER_CERT_PATH", certificates);
  }

  beforeAll(async () => {
    swarm = await startSwarm(1, { from: machine, images: [testBase], args: tlsArgs });
    node = swarm.nodes[0] as SwarmNode;
    stubEnv();
    engine = connectEngine({ env: { DOCKER_HOST: hostOf(node) } });
    vi.unstubAllEnvs();
    door = await standInDoor(swarm.host);
    cluster = createDockerEngine({
      engine,
      project: "project1",
      config: { address: door.address, subnet: "" },
      programImage: () => Promise.resolve(testBase),
      loginFor: () => Promise.resolve(undefined),
      relayCommand: door.relayCommand,
    });
    await cluster.ready();
  }, engineSetupMs);
  afterAll(async () => {
    await swarm.stop();
    await door.close();
    rmSync(certificates, { recursive: true, force: true });
  });

  containerEngineContract(side, { start, ...test }, async (_node, { name }) => {
    const { Id } = await engine.calls().getContainer(name).inspect();
    return Id;
  });

  it("asks the program of a run to read the ticket", async () => {
    const launch = await start("true", {
      command: ["echo", "_remote-run", "dev", "--", "sh", "-c", "x"],
    });
    await placed(cluster, launch, { state: "ended" });
    const logs = await engine.calls().getContainer(launch.name).logs({ stdout: true });
    expect(String(logs)).toContain("_remote-run --ticket - dev -- sh -c x");
  });

  it("reports how a run ended", async () => {
    const failed = await start("exit 7");
    const problem = "its process ended with exit code 7";
    await placed(cluster, failed, { state: "ended", exitCode: 7, endings: 1, problem });
    const big = await start("node -e 'Buffer.alloc(3e8, 1)'");
    await placed(cluster, big, { state: "ended", outOfMemory: true });
  });

  it("names the missing image", async () => {
    await expect(start("true", { image: "al-test-nowhere:1" })).rejects.toMatchObject({
      code: "image_missing",
      message: like("has no image al-test-nowhere:1"),
    });
    expect(await cluster.list()).toEqual([]);
  });

  it("is unreachable while it is away, and its relay returns with it", async () => {
    stubEnv();
    await node.kill();
    const problem = () => cluster.list().catch((error: unknown) => error);
    await expect.poll(problem).toMatchObject({ code: "engine_unreachable" });
    vi.unstubAllEnvs();
    await node.boot();
    stubEnv();
    await cluster.ready();
    vi.unstubAllEnvs();
    await start(byDoor("echo back"));
    await hears("back\n");
  }, 90_000);
});
