import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { ContainerInspectInfo } from "dockerode";
import { NEVER } from "rxjs";
import { collected, exitOf, messagesOf, whenReady } from "../contract.ts";
import { testBase, testEngine } from "../../../helpers/docker.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { aRequest, end, log } from "../shell-runs.ts";
import { aProject, aRunner, containersOf, eventsOf } from "./support.ts";
import { like } from "../../../helpers/like.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a live container", () => {
  const request = aRequest(`${log("ready")}; sleep 1; ${end()}`, { timezone: "Asia/Tokyo" });
  const projectDir = aProject();

  const live = perFile(async () => {
    const local = () => ({ memory: "192m", cpus: 1.5, network: "none" });
    const seen = Promise.withResolvers<ContainerInspectInfo>();
    const look = async () => {
      const [id = ""] = await containersOf(engine, request.instanceId);
      return engine.calls().getContainer(id).inspect();
    };
    const run$ = aRunner(engine, { projectDir, local }).run(request, NEVER);
    await collected(run$.pipe(whenReady(() => seen.resolve(look()))));
    return seen.promise;
  });

  test("has limits, a read-only root and a bounded log, but no privileges, mounts or ports", () => {
    const { State, Config, HostConfig: host, Mounts } = live();
    const bytes = 192 * 1024 * 1024;
    expect(host).toMatchObject({
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
    expect([bytes, -1]).toContain(host.MemorySwap);
    expect(Object.keys(host.Tmpfs as object).sort()).toEqual(["/home/al", "/tmp", "/workspace"]);
    const lists = ["CapAdd", "Devices", "Binds", "PortBindings"] as const;
    const given = [Mounts, ...lists.map((name) => (host[name] ?? []) as object)];
    expect(given.flatMap((each) => Object.keys(each))).toEqual([]);
    expect([State.Running, Config.User]).toEqual([true, "10001:10001"]);
  });

  test("names its project, agent and instance in labels, and only the instance in its environment", () => {
    const { Labels, Env } = live().Config;
    expect(Labels).toMatchObject({
      "al.project": like(/^[0-9a-f]{16}$/),
      "al.agent": "dev",
      "al.instance": request.instanceId,
    });
    expect(JSON.stringify(live())).not.toContain(projectDir);
    const names = Env.map((pair) => pair.replace(/=.*/s, "")).filter((name) => name !== "PATH");
    expect(names.sort()).toEqual(["AL_INSTANCE", "HOME", "LANG", "TZ", "USER"]);
    expect(Env).toContain("TZ=Asia/Tokyo");
  });
});

describe.skipIf(missing !== null)("a run inside of a container", () => {
  const said = async (script: string, options: Parameters<typeof eventsOf>[2] = {}) => {
    const events = await eventsOf(engine, aRequest(`${script}; ${end()}`), options);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, outOfMemory: false });
    return messagesOf(events);
  };

  test("has its own host name and folder, and no capabilities", async () => {
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

  test("has the image's volumes in memory, each with a size limit", async () => {
    const name = `al-test-volumes:${randomUUID().slice(0, 8)}`;
    const container = await engine.calls().createContainer({ Image: testBase, Cmd: ["true"] });
    const [repo, tag] = name.split(":");
    await container.commit({ repo, tag, changes: 'VOLUME ["/vol/", "/srv/data", "/tmp"]' });
    await container.remove();
    onTestFinished(() => engine.calls().getImage(name).remove({ force: true }));
    const images = { prepare: () => NEVER, imageFor: () => Promise.resolve(name) };
    const fill = (path: string) =>
      `stat -f -c %T ${path}; dd if=/dev/zero of=${path}/x bs=1M count=70 2>&1 | grep -o 'No space.*'; rm ${path}/x`;
    const paths = ["/vol", "/srv/data", "/tmp"];
    expect(await said(paths.map(fill).join("; "), { images })).toEqual(
      paths.flatMap(() => ["tmpfs", "No space left on device"]),
    );
  });

  test("writes to its own folders only, from which it can run programs", async () => {
    const lines = await said(
      `for place in / /etc /usr/bin /opt /var/tmp; do touch $place/x 2>/dev/null && echo wrote $place; done; for place in /tmp /workspace $HOME; do printf '#!/bin/sh\\necho ran %s\\n' $place >$place/x && chmod +x $place/x && $place/x; done`,
    );
    expect(lines).toEqual(["ran /tmp", "ran /workspace", "ran /home/al"]);
  });
});
