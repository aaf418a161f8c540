import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connectEngine, type Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { programImage } from "../../../helpers/swarm/program-image.ts";
import { startSshServer, whyNoSshServer, type SshServer } from "../../../helpers/ssh-server.ts";

const { engine: machine, missing } = await testEngine();
const why = whyNoSshServer();
/** Some systems have the engine without its command. */
const hasCommand = spawnSync("docker", ["--version"]).status === 0;

describe.skipIf(missing !== null || why !== null || !hasCommand)(
  "a container engine reached over ssh",
  () => {
    let server: SshServer;
    let engine: Engine;
    let dir: string;

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), "al-ssh-"));
      mkdirSync(join(dir, "keys"));
      server = await startSshServer(join(dir, "keys"));
      engine = bySsh(server.knownHost);
    }, engineSetupMs);
    afterAll(async () => {
      await server.stop();
      rmSync(dir, { recursive: true });
    });

    /** As an operator's ~/.ssh/config has it. */
    function bySsh(knownHost: string): Engine {
      const own = join(dir, `${knownHost.length}`);
      mkdirSync(own);
      writeFileSync(join(own, "key"), `${server.privateKey}\n`, { mode: 0o600 });
      writeFileSync(join(own, "known_hosts"), `${knownHost}\n`);
      const config = `IdentityFile ${own}/key\nUserKnownHostsFile ${own}/known_hosts\n`;
      writeFileSync(join(own, "config"), config);
      writeFileSync(join(own, "ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F ${own}/config "$@"\n`);
      chmodSync(join(own, "ssh"), 0o755);
      const PATH = `${own}:${process.env.PATH ?? ""}`;
      return connectEngine({ env: { ...process.env, PATH, DOCKER_HOST: server.url } });
    }

    test("rejects a machine with an unknown key, with the reason of ssh", async () => {
      const stranger = bySsh("");
      await expect(stranger.ping()).rejects.toMatchObject({
        code: "engine_unreachable",
        message: `no container engine answers at ${server.url} (Host key verification failed.)`,
      });
    });

    test("answers like a local one, many requests at once", async () => {
      const version = await machine.version();
      const versions = await Promise.all(Array.from({ length: 20 }, () => engine.version()));
      expect(new Set(versions)).toEqual(new Set([version]));
    });

    test(
      "gives a container its input and returns its output",
      async () => {
        const Image = await programImage(machine);
        const container = await engine.streams().createContainer({
          Image,
          Entrypoint: ["cat"],
          OpenStdin: true,
          StdinOnce: true,
          Tty: false,
          HostConfig: { AutoRemove: true },
        });
        const input = await container.attach({
          stream: true,
          stdin: true,
          stdout: true,
          hijack: true,
        });
        await container.start();
        input.end("through ssh\n");
        expect(await text(input)).toContain("through ssh");
      },
      engineSetupMs,
    );
  },
);
