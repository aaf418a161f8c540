import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { ContainerInspectInfo } from "dockerode";
import { lastValueFrom, NEVER, tap } from "rxjs";
import { limitsOf } from "../../../../src/runtime/runners/container/container-options.ts";
import { messagesOf } from "../contract.ts";
import { anAgent } from "../../../helpers/agents.ts";
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

  test("has limits, a read-only root with three folders, no privileges, mounts or ports, and a bounded log", () => {
    expect(live?.State.Running).toBe(true);
    const bytes = 192 * 1024 * 1024;
    expect(host()).toMatchObject({
      Memory: bytes,
      NanoCpus: 1_500_000_000,
      CpuShares: 256,
      PidsLimit: 512,
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ["ALL"],
      PidMode: "",
      UsernsMode: "",
      IpcMode: "private",
      NetworkMode: "none",
      SecurityOpt: ["no-new-privileges"],
      Init: true,
      AutoRemove: false,
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "json-file", Config: { "max-file": "1", "max-size": "64m" } },
    });
    expect([bytes, -1]).toContain(host()?.MemorySwap);
    expect(Object.keys(host()?.Tmpfs as object).sort()).toEqual(["/home/al", "/tmp", "/workspace"]);
    expect(live?.Config.User).toBe("10001:10001");
    for (const list of ["CapAdd", "Devices", "Binds"] as const) {
      expect(host()?.[list] ?? []).toEqual([]);
    }
    expect(host()?.PortBindings ?? {}).toEqual({});
    expect(live?.Mounts).toEqual([]);
  });

  test("names project, agent and instance by labels, and nothing by its environment", () => {
    expect(live?.Config.Labels).toMatchObject({
      "al.project": expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      "al.agent": "dev",
      "al.instance": request.instanceId,
    });
    expect(JSON.stringify(live)).not.toContain(projectDir);
    const names = live?.Config.Env.map((pair) => pair.split("=")[0] ?? "") ?? [];
    expect(names.filter((name) => name !== "PATH").sort()).toEqual([
      "AL_INSTANCE",
      "HOME",
      "LANG",
      "TZ",
      "USER",
    ]);
    expect(live?.Config.Env).toContain("TZ=Asia/Tokyo");
  });
});

describe.skipIf(missing !== null)("a run from inside", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-canary-"));
    await writeFile(join(dir, "canary"), "canary-on-the-host");
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const said = async (script: string, options: Parameters<typeof eventsOf>[2] = {}) =>
    messagesOf(await eventsOf(engine, aRequest(`${script}; ${end()}`), options));

  test("sees its own host name, a user without capabilities, an empty folder and an init", async () => {
    const status = "grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs)' /proc/self/status";
    const processes = "cat /proc/1/comm; ls -d /proc/[0-9]* | wc -l";
    const [id, host = "", place, owner, init, count, net, ...rights] = await said(
      `id -u; hostname; pwd; ls -A; stat -c %u .; ${processes}; ls /sys/class/net; ${status}`,
    );
    expect([id, place, owner, net]).toEqual(["10001", "/workspace", "10001", "lo"]);
    expect(host).toMatch(/^dev-/);
    expect(host).not.toBe(hostname());
    expect(init).toMatch(/^(docker-init|tini)/);
    expect(Number(count)).toBeLessThan(6);
    expect(rights).toHaveLength(5);
    for (const line of rights) expect(line).toMatch(/^Cap\w+:\s0{16}$|^NoNewPrivs:\s1$/);
  });

  test("finds no file of the host, no key, no engine", async () => {
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

  test("has the volumes of its image in memory, each with a limit", async () => {
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

  test("writes to its own folders only, from which it can run programs", async () => {
    const lines = await said(
      `for place in / /etc /usr/bin /opt /var/tmp; do touch $place/x 2>/dev/null && echo wrote $place; done; for place in /tmp /workspace $HOME; do printf '#!/bin/sh\\necho ran %s\\n' $place >$place/x && chmod +x $place/x && $place/x; done`,
    );
    expect(lines).toEqual(["ran /tmp", "ran /workspace", "ran /home/al"]);
  });

  test("can't exceed its limit of processes", async () => {
    const forks = `for i in $(seq 600); do sleep 3 >/dev/null 2>&1 & done`;
    const [refusals] = await said(`(${forks}) 2>&1 | grep -ci fork`, { graceMs: 100 });
    expect(Number(refusals)).toBeGreaterThan(0);
  });

  test("reaches the scheduler by a socket in its own folder, which it can't change", async () => {
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

const project = { memory: "128m", cpus: 1, network: "none" };

test.each([
  [
    { memory: "64m", cpus: 0.5, network: "bridge", env: {} },
    { memory: "64m", cpus: 0.5, network: "bridge" },
  ],
  [
    { memory: null, cpus: 0.5, network: null, env: {} },
    { memory: "128m", cpus: 0.5, network: "none" },
  ],
])("the limits of a container are the agent's before the project's: %j", (local, expected) => {
  expect(limitsOf(anAgent("dev", { local }), project)).toEqual(expected);
});
