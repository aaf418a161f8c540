import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { ContainerInspectInfo } from "dockerode";
import { lastValueFrom, NEVER, tap } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messagesOf } from "../../../foundation/contracts/runner.ts";
import { testBase, testEngine } from "../../../helpers/docker.ts";
import { end, log } from "../shell-runs.ts";
import { aProject, aRequest, aRunner, containersOf, eventsOf } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a live container", () => {
  const request = aRequest(`${log("ready")}; sleep 1; ${end()}`, { timezone: "Asia/Tokyo" });
  const projectDir = aProject();
  let live: ContainerInspectInfo | undefined;

  beforeAll(async () => {
    const local = () => ({ memory: "192m", cpus: 1.5, network: "none" });
    const run$ = aRunner(engine, { projectDir, local }).run(request, NEVER);
    await lastValueFrom(
      run$.pipe(
        tap((event) => {
          if (!messagesOf([event]).includes("ready")) return;
          void containersOf(engine, request.instanceId)
            .then(([id = ""]) => engine.calls().getContainer(id).inspect())
            .then((info) => (live = info));
        }),
      ),
    );
  });

  const host = () => live?.HostConfig;

  it("runs", () => expect(live?.State.Running).toBe(true));

  it("has its memory, no swap, its cpus and a limit of processes", () => {
    const bytes = 192 * 1024 * 1024;
    expect(host()).toMatchObject({
      Memory: bytes,
      NanoCpus: 1_500_000_000,
      CpuShares: 256,
      PidsLimit: 512,
    });
    expect(host()?.MemorySwap === bytes || host()?.MemorySwap === -1).toBe(true);
  });

  it("has a read-only root with three folders to write to", () => {
    expect(host()?.ReadonlyRootfs).toBe(true);
    expect(Object.keys(host()?.Tmpfs as object).sort()).toEqual(["/home/al", "/tmp", "/workspace"]);
  });

  it("has no privileges and gets none", () => {
    expect(host()).toMatchObject({ Privileged: false, CapDrop: ["ALL"] });
    expect(host()?.CapAdd ?? []).toEqual([]);
    expect(host()?.SecurityOpt).toEqual(["no-new-privileges"]);
    expect(host()).toMatchObject({ PidMode: "", UsernsMode: "", IpcMode: "private" });
    expect(host()?.Devices ?? []).toEqual([]);
    expect(live?.Config.User).toBe("10001:10001");
  });

  it("has no mounts, no ports and the network that was asked for", () => {
    expect(live?.Mounts).toEqual([]);
    expect(host()?.Binds ?? []).toEqual([]);
    expect(host()?.PortBindings ?? {}).toEqual({});
    expect(host()?.NetworkMode).toBe("none");
  });

  it("has an init, is never restarted, and keeps a bounded log", () => {
    expect(host()).toMatchObject({ Init: true, AutoRemove: false, RestartPolicy: { Name: "no" } });
    expect(host()?.LogConfig).toEqual({
      Type: "json-file",
      Config: { "max-file": "1", "max-size": "64m" },
    });
  });

  it("tells project, agent and instance by labels, and nothing by its environment", () => {
    expect(live?.Config.Labels).toMatchObject({
      "al.project": expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      "al.agent": "dev",
      "al.instance": request.instanceId,
    });
    expect(JSON.stringify(live)).not.toContain(projectDir);
    const names = live?.Config.Env.map((pair) => pair.split("=")[0] ?? "") ?? [];
    expect(names.filter((name) => name !== "PATH").sort()).toEqual([
      ...["AL_INSTANCE", "HOME", "LANG", "TZ", "USER"],
    ]);
    expect(live?.Config.Env).toContain("TZ=Asia/Tokyo");
  });
});

describe.skipIf(missing !== null)("what a run sees from inside", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-canary-"));
    await writeFile(join(dir, "canary"), "canary-on-the-host");
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const said = async (script: string, options: Parameters<typeof eventsOf>[2] = {}) =>
    messagesOf(await eventsOf(engine, aRequest(`${script}; ${end()}`), options));

  it("is another host, another user, and not root", async () => {
    const [id, host] = await said("id -u; hostname");
    expect(id).toBe("10001");
    expect(host).toMatch(/^dev-/);
    expect(host).not.toBe(hostname());
  });

  it("has no capability and can get none", async () => {
    const status = await said("grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs)' /proc/self/status");
    expect(status.filter((line) => line.startsWith("Cap"))).toHaveLength(4);
    for (const line of status) {
      expect(line).toMatch(/^Cap\w+:\s0{16}$|^NoNewPrivs:\s1$/);
    }
  });

  it("finds no file of the host, no key, no engine", async () => {
    const places = [
      join(dir, "canary"),
      "/root/.almanac",
      "/var/run/docker.sock",
      "/run/docker.sock",
    ];
    const found = await said(places.map((place) => `ls ${place} 2>/dev/null`).join("; "));
    expect(found).toEqual([]);
    const mounts = (await said("cat /proc/mounts")).join("\n");
    expect(mounts).not.toContain(dir);
    expect(mounts).toMatch(/ \/ overlay ro,/);
  });

  it("has the volumes of its image in memory, each with a limit", async () => {
    const name = `al-test-volumes:${randomUUID().slice(0, 8)}`;
    const container = await engine.calls().createContainer({ Image: testBase, Cmd: ["true"] });
    const [repo, tag] = name.split(":");
    await container.commit({ repo, tag, changes: 'VOLUME ["/vol/", "/srv/data", "/tmp"]' });
    await container.remove();
    try {
      const options = { images: { prepare: () => NEVER, imageFor: () => Promise.resolve(name) } };
      const fill = (path: string) =>
        `stat -f -c %T ${path}; dd if=/dev/zero of=${path}/x bs=1M count=70 2>&1 | grep -o 'No space.*'; rm ${path}/x`;
      const full = ["tmpfs", "No space left on device"];
      expect(await said(["/vol", "/srv/data", "/tmp"].map(fill).join("; "), options)).toEqual(
        [full, full, full].flat(),
      );
    } finally {
      await engine.calls().getImage(name).remove({ force: true });
    }
  });

  it("writes to its own folders only, and they run programs", async () => {
    const lines = await said(
      `for place in / /etc /usr/bin /opt /var/tmp; do touch $place/x 2>/dev/null && echo wrote $place; done; for place in /tmp /workspace $HOME; do printf '#!/bin/sh\\necho ran %s\\n' $place >$place/x && chmod +x $place/x && $place/x; done`,
    );
    expect(lines).toEqual(["ran /tmp", "ran /workspace", "ran /home/al"]);
  });

  it("starts in an empty folder of its own", async () => {
    expect(await said("pwd; ls -A; stat -c %u .")).toEqual(["/workspace", "10001"]);
  });

  it("sees only its own processes, behind an init", async () => {
    const lines = await said("cat /proc/1/comm; ls -d /proc/[0-9]* | wc -l");
    expect(lines[0]).toMatch(/^(docker-init|tini)/);
    expect(Number(lines[1])).toBeLessThan(6);
  });

  it("reaches no network with none", async () => {
    expect(await said("ls /sys/class/net")).toEqual(["lo"]);
  });

  it("is kept from more processes than it may have", async () => {
    const forks = `for i in $(seq 600); do sleep 3 >/dev/null 2>&1 & done`;
    const [refusals] = await said(`(${forks}) 2>&1 | grep -ci fork`, { graceMs: 100 });
    expect(Number(refusals)).toBeGreaterThan(0);
  });

  it("reaches the scheduler by a socket in its own folder, which it cannot change", async () => {
    const socket = join(dir, "al.sock");
    const server = createServer((connection) => connection.end("hello from the scheduler\n"));
    await new Promise<void>((resolve) =>
      server.listen({ path: socket, writableAll: true }, resolve),
    );
    // Open to everybody, so that it is the mount that keeps the run from writing.
    await chmod(dir, 0o777);
    try {
      const ask = `node -e 'require("net").connect("/run/al/al.sock").pipe(process.stdout)'`;
      const lines = await said(`${ask}; touch /run/al/x 2>/dev/null && echo wrote`, {
        controlDir: () => dir,
      });
      expect(lines).toEqual(["hello from the scheduler"]);
    } finally {
      server.close();
    }
  });
});
