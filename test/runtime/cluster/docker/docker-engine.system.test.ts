import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDockerEngine } from "../../../../src/runtime/cluster/docker/docker-engine.ts";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { certificateAuthority } from "../../../helpers/certificate-authority.ts";
import { engineSetupMs, testBase, testEngine } from "../../../helpers/docker.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { standInDoor } from "../../../helpers/swarm/stand-in-door.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { startSwarm } from "../../../helpers/swarm/swarm.ts";
import { placed } from "../launches.ts";
import { containerEngineContract, containerEngineTest } from "./engine-contract.ts";
import { like } from "../../../helpers/like.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("the engine of another machine, over TLS,", () => {
  const certificates = mkdtempSync(join(tmpdir(), "al-engine-"));
  afterAll(() => rmSync(certificates, { recursive: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(certificates, name), text);
    return join(certificates, name);
  };

  /** The engine's own certificate, for its address alone, and its clients'. */
  function tlsArgs(address: string): readonly string[] {
    const authority = certificateAuthority();
    const [server, client] = [authority.issue(`IP:${address}`), authority.issue("client")];
    write("key.pem", client.key);
    write("cert.pem", client.cert);
    authority.remove();
    return [
      "-H",
      `tcp://${address}:2376`,
      "--tlsverify",
      `--tlscacert=${write("ca.pem", authority.cert)}`,
      `--tlscert=${write("server.crt", server.cert)}`,
      `--tlskey=${write("server.key", server.key)}`,
    ];
  }

  /** A client of the engine reads these when it is made: at first, and after each failure. */
  async function withEnv<T>(DOCKER_HOST: string, work: () => T | Promise<T>): Promise<T> {
    const env = { DOCKER_HOST, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: certificates };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    try {
      return await work();
    } finally {
      vi.unstubAllEnvs();
    }
  }

  const made = perFile(
    async () => {
      const swarm = await startSwarm(1, { from: machine, images: [testBase], args: tlsArgs });
      const node = swarm.nodes[0] as SwarmNode;
      const host = `tcp://${node.address}:2376`;
      const engine = await withEnv(host, () => connectEngine({ env: { DOCKER_HOST: host } }));
      const door = await standInDoor(swarm.host);
      const cluster = createDockerEngine({
        engine,
        project: "project1",
        config: { address: door.address, subnet: "" },
        programImage: () => Promise.resolve(testBase),
        loginFor: () => Promise.resolve(undefined),
        relayCommand: door.relayCommand,
      });
      await cluster.ready();
      return { swarm, node, host, engine, door, cluster, nodes: [node] };
    },
    async ({ swarm, door }) => {
      await swarm.stop();
      await door.close();
    },
    engineSetupMs,
  );
  const { start, ...test } = containerEngineTest(made);
  const containerOf = ({ name }: { readonly name: string }) =>
    made().engine.calls().getContainer(name);

  containerEngineContract(
    made,
    { start, ...test },
    async (_node, launch) => (await containerOf(launch).inspect()).Id,
  );

  it("asks the program of a run to read the ticket", async () => {
    const launch = await start("true", {
      command: ["echo", "_remote-run", "dev", "--", "sh", "-c", "x"],
    });
    await placed(made().cluster, launch, { state: "ended" });
    const logs = await containerOf(launch).logs({ stdout: true });
    expect(String(logs)).toContain("_remote-run --ticket - dev -- sh -c x");
  });

  it("reports how a run ended", async () => {
    const failed = await start("exit 7");
    const problem = "its process ended with exit code 7";
    await placed(made().cluster, failed, { state: "ended", exitCode: 7, endings: 1, problem });
    const big = await start("node -e 'Buffer.alloc(3e8, 1)'");
    await placed(made().cluster, big, { state: "ended", outOfMemory: true });
  });

  it("names the missing image", async () => {
    await expect(start("true", { image: "al-test-nowhere:1" })).rejects.toMatchObject({
      code: "image_missing",
      message: like("has no image al-test-nowhere:1"),
    });
    expect(await made().cluster.list()).toEqual([]);
  });

  it("is unreachable while it is away, and its relay returns with it", async () => {
    const { node, cluster, host } = made();
    await withEnv(host, async () => {
      await node.kill();
      const problem = () => cluster.list().catch((error: unknown) => error);
      await expect.poll(problem).toMatchObject({ code: "engine_unreachable" });
    });
    await node.boot();
    await withEnv(host, () => cluster.ready());
    await start(test.byDoor("echo back"));
    await test.hears("back\n");
  }, 90_000);
});
