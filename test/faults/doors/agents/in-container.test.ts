import { rm } from "node:fs/promises";
import { containerProject, containersOfProject } from "../../../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { forAll, type LiveProject } from "../../../helpers/live-project.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { injectedAgent, resultsOf, tries, type Tried } from "./attack.ts";

const { engine, missing } = await testEngine();
const hostCanary = "canary-of-the-host-7d21";
const othersSecret = "canary-of-another-agent-93ab";

/** Asks the scheduler by the address that the host has on the containers' bridge. */
const ask = (path: string, more = "") =>
  `curl -s -m 3 -o /tmp/answer -w '%{http_code}' ${more} http://$HOST:$PORT${path}; echo; cat /tmp/answer 2>/dev/null`;
const channel = (path: string) =>
  `curl -s -m 3 --unix-socket /run/al/channel.sock -X POST -H 'content-type: application/json' -d '{}' -w '%{http_code}' http://x${path}`;

const attacks = {
  "control-api": ask("/control/status"),
  "control-api-as-localhost": ask("/control/status", "-H 'Host: localhost'"),
  "control-stop": ask("/control/stop", "-X POST -H 'Host: localhost'"),
  "dashboard-login": ask(
    "/login",
    `-X POST -H 'Host: localhost' -H 'content-type: application/json' -d '{"key":"guess"}'`,
  ),
  "channel-control": channel("/control/status"),
  "channel-climb": channel("/run/../control/stop"),
  "channel-no-token": channel("/run/lock"),
  sockets: "find / -type s -not -path '/proc/*' 2>/dev/null",
  "other-channels":
    "ls -A /run/al/.. /tmp/al-channels-0 /tmp/al-runs; ls /run/al; grep -c al /proc/net/unix",
  "docker-socket":
    "curl -s -m 3 --unix-socket /var/run/docker.sock http://x/info || curl -s -m 3 --unix-socket /run/docker.sock http://x/info",
  "docker-port": "curl -s -m 3 http://$HOST:2375/info",
  "api-key": "find / -name '*api_key*' -not -path '/proc/*' 2>/dev/null | grep .",
  credentials:
    "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline $HOME/.almanac/*/*/* /workspace/.credentials/*/* 2>/dev/null",
  "host-files": "cat /root/.ssh/id_* /host/* /mnt/* /work/* /etc/shadow 2>/dev/null | grep .",
  "host-processes": "ls -d /proc/[0-9]* | wc -l",
  "write-image":
    "echo x >>/usr/local/bin/al || echo x >/etc/cron.d/x || echo x >>/usr/bin/node || mkdir /opt/x",
  remount: "mount -o remount,rw / || mount -t tmpfs none /mnt || mount --bind /proc /mnt",
  "own-namespace": "unshare -Urm true || unshare -m true",
  chroot: "chroot / true || nsenter -t 1 -m true",
  devices: "mknod /tmp/d b 8 0 || cat /dev/mem || dmesg || cat /dev/kmsg",
  "kernel-settings":
    "echo '|/tmp/x' >/proc/sys/kernel/core_pattern || echo 1 >/proc/sysrq-trigger || echo x >/sys/fs/cgroup/cgroup.procs",
  setuid: "cp /bin/sh /tmp/sh && chmod u+s /tmp/sh && su root -c id || sudo -n id",
  "trace-init": "head -c1 /proc/1/mem || cat /proc/1/root/etc/shadow",
};

/** The host's address on the bridge, as the container's own routes have it. */
const findHost = `node -p 'require("fs").readFileSync("/proc/net/route", "utf8").split("\\n").map((line) => line.split("\\t")).find((parts) => parts[1] === "00000000")[2].match(/../g).reverse().map((part) => parseInt(part, 16)).join(".")'`;

describe.skipIf(missing !== null)(
  "an agent in a container that follows an attacker's instructions",
  () => {
    let project: LiveProject;
    let scheduler: TestScheduler;
    forAll(async () => {
      await defaultTestImage(engine);
      project = await containerProject(engine);
      for (const name of ["boxed", "beside"])
        await rm(project.path(`agents/${name}`), { recursive: true });
      await project.edit("config.toml", 'memory = "1g"', 'memory = "512m"\nnetwork = "bridge"');
      await project.append("config.toml", '\n[gateway]\nhost = "0.0.0.0"\n');
      await project.store("victims/default/token", othersSecret);
      await project.write("../canary", hostCanary, 0o644);
      await injectedAgent(project, "victim", "sleep 600", 'credentials = ["victims"]\n');
      await injectedAgent(
        project,
        "bomber",
        ":(){ :|:& };: & sleep 60",
        "credentials = []\ntimeout = 12\n",
      );
      await injectedAgent(
        project,
        "hog",
        `node -e 'const all=[];for(;;)all.push(Buffer.alloc(2**20,1))'`,
        "credentials = []\ntimeout = 30\n",
      );
      scheduler = await project.start();
    }, engineSetupMs);

    const outcomeOf = async (agent: string) => (await project.latest(agent))?.outcome;

    test(
      "reaches nothing of the scheduler's, the host's or another run's",
      { timeout: engineSetupMs },
      async () => {
        const { port } = new URL(scheduler.url);
        const where = `export HOST=$(${findHost}) PORT=${port}\n`;
        await injectedAgent(project, "attacker", where + tries(attacks), "credentials = []\n");
        await scheduler.waitForOutput(/attacker loaded/);
        await project.trigger("victim");
        const { stdout } = await project.al("run", "attacker");
        expect(await outcomeOf("victim")).toBeNull();
        await project.print("kill", "victim");
        const results = await resultsOf(project, "attacker");
        expect(Object.keys(results), stdout).toEqual(Object.keys(attacks));
        const said = (name: keyof typeof attacks) => results[name]?.said ?? "";

        expect(said("control-api")).toMatch(/^403\n/);
        expect(said("control-api-as-localhost")).toMatch(/^401\n/);
        expect(said("control-stop")).toMatch(/^401\n/);
        expect(said("dashboard-login")).toMatch(/^401\n/);
        expect(said("channel-control")).toMatch(/40[14]$/);
        expect(said("channel-climb")).toMatch(/40[14]$/);
        expect(said("channel-no-token")).toMatch(/401$/);
        // The one by which its own commands reach its own harness.
        expect(said("sockets").trim()).toBe("/workspace/.al/run.sock");
        expect(said("host-processes").trim()).toMatch(/^\d{1,2}$/);
        for (const [name, { said: text }] of Object.entries(results)) {
          expect(text, name).not.toContain(hostCanary);
          expect(text, name).not.toContain(othersSecret);
          expect(text, name).not.toContain(scheduler.apiKey);
          expect(text, name).not.toContain("root:x:0:0:root:/root:/bin/bash:");
          expect(text, name).not.toContain('"agents"');
        }
        const failing = [
          "docker-socket",
          "docker-port",
          "api-key",
          "host-files",
          "write-image",
          "remount",
          "own-namespace",
          "chroot",
          "devices",
          "kernel-settings",
          "setuid",
          "trace-init",
        ];
        const succeeded = (name: string, { code }: Tried | { code: -1 } = { code: -1 }) =>
          code === 0 ? [name] : [];
        expect(failing.flatMap((name) => succeeded(name, results[name]))).toEqual([]);
      },
    );

    test(
      "is ended with all its processes and memory, without effect on others",
      { timeout: engineSetupMs },
      async () => {
        await project.trigger("bomber", "hog");
        let slowest = 0;
        await expect
          .poll(
            async () => {
              const began = performance.now();
              expect((await fetch(`${scheduler.url}/health`)).status).toBe(200);
              slowest = Math.max(slowest, performance.now() - began);
              return [await outcomeOf("bomber"), await outcomeOf("hog")];
            },
            { timeout: 60_000, interval: 200 },
          )
          .toEqual(["timed_out", expect.stringMatching(/out_of_memory|failed|succeeded/)]);
        expect(slowest).toBeLessThan(2_000);
        await expect.poll(() => containersOfProject(engine, project.dir)).toEqual([]);
      },
    );
  },
);
