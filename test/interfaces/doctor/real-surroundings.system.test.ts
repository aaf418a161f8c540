import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import {
  instanceLabel,
  projectId,
  projectLabel,
} from "../../../src/runtime/runners/container/labels.ts";
import { engineSetupMs, testBase, testEngine } from "../../helpers/docker.ts";
import { asUser, tempUser, whyNoOsUsers, withSudoersRule } from "../../helpers/os-users.ts";
import { builtAl } from "../../helpers/scheduler.ts";
import { agentConfig } from "./fault.ts";
import { ward } from "./support.ts";

const { engine, missing } = await testEngine();
const noOsUsers = whyNoOsUsers();
if (noOsUsers !== null) process.stderr.write(`skipped: the doctor writes no rule (${noOsUsers})\n`);

describe.skipIf(missing !== null)("on a real engine, the doctor", () => {
  test(
    "finds what a run left, with a fix that works",
    async () => {
      Reflect.deleteProperty(ward.env, "DOCKER_HOST");
      if (process.env.DOCKER_HOST) ward.env.DOCKER_HOST = process.env.DOCKER_HOST;
      const instance = "dev-abcd2345";
      const Labels = { [projectLabel]: projectId(ward.dir), [instanceLabel]: instance };
      const left = await engine
        .calls()
        .createContainer({ Image: testBase, Cmd: ["sleep", "600"], Labels });
      try {
        await left.start();
        const finding = (await ward.runChecks()).find(({ check }) => check === "containers");
        expect(finding).toMatchObject({
          severity: "warning",
          what: `runs of a scheduler that is gone left 1: ${instance}`,
          fix: `docker rm --force ${left.id.slice(0, 12)}`,
        });
        await ward.run(finding?.fix ?? "");
        const after = (await ward.runChecks()).find(({ check }) => check === "containers");
        expect(after).toMatchObject({ severity: "ok" });
      } finally {
        await left.remove({ force: true }).catch(() => undefined);
      }
    },
    engineSetupMs,
  );
});

/** Files of rules for a project's runs. */
function rulesOf(projectDir: string): string[] {
  const grep = ["-c", `grep -ls -- '${projectDir}' /etc/sudoers.d/* || true`];
  const paths = execFileSync("sh", grep).toString().split("\n");
  return paths.filter((path) => path !== "");
}

describe.skipIf(noOsUsers !== null)("on a machine without sudo, the doctor", () => {
  beforeEach(() => {
    const bin = join(ward.home, "bin");
    mkdirSync(bin, { recursive: true });
    for (const name of ["sh", "id", "unshare"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    ward.env.PATH = bin;
  });

  test("tells a scheduler's user the rule and every step of root", async () => {
    const scheduler = await tempUser();
    ward.edit(agentConfig, '"$USER"', '"al-nobody-yet"');
    for (const dir of [dirname(ward.dir), ward.home]) chmodSync(dir, 0o755);
    try {
      const program = [process.execPath, builtAl, "doctor", "--json", "-p", ward.dir];
      const { stdout } = spawnSync("/usr/bin/setpriv", asUser(scheduler, ...program), {
        encoding: "utf8",
        env: { ...ward.env, HOME: "/nonexistent", AL_HOME: "/nonexistent" },
      });
      const { findings } = JSON.parse(stdout) as { readonly findings: CheckFinding[] };
      const { what = "", fix = "" } = findings.find(({ check }) => check === "host users") ?? {};
      expect(what).toMatch(
        /^sudo, by which runs become the OS user al-nobody-yet, is not installed; with it \/etc\/sudoers\.d\/almanac-\w+ has to hold this rule:\n# Almanac: /,
      );
      expect(what).toMatch(new RegExp(`${scheduler.name} ALL=\\(al-nobody-yet\\) NOPASSWD: .+$`));
      expect(fix).toMatch(
        /^as root: apt-get install sudo && useradd --system .+ al-nobody-yet && visudo -f \/etc\/sudoers\.d\/almanac-\w+$/,
      );
    } finally {
      await scheduler.remove();
    }
  });

  test("tells root no rule, which root does not need", async () => {
    ward.edit(agentConfig, '"$USER"', '"al-nobody-yet"');
    const finding = (await ward.runChecks()).find(({ check }) => check === "host users");
    expect(finding).toMatchObject({
      what: "sudo, by which runs become the OS user al-nobody-yet, is not installed",
      fix: expect.stringMatching(/^apt-get install sudo && useradd .+ al-nobody-yet$/) as string,
    });
  });
});

describe.skipIf(noOsUsers !== null)("for root, the doctor", () => {
  test("advises to run al as the owner of credentials, not to take them", async () => {
    execFileSync("chown", ["-R", "65534", ward.home]);
    const found = (await ward.runChecks()).filter(({ check }) => check === "permissions");
    expect(found.length).toBeGreaterThan(0);
    for (const { fix } of found) {
      expect(fix).toBe("run al as its owner instead of root: sudo -u '#65534' al …");
    }
  });
});

describe.skipIf(noOsUsers !== null)("for a scheduler that may use sudo, the doctor", () => {
  test("finds a missing sudoers rule, with a fix that works", async () => {
    const [agent, scheduler] = [await tempUser(), await tempUser()];
    // An administrator, who is no agent's user by that.
    const takeOut = await withSudoersRule(`${scheduler.name} ALL=(root) NOPASSWD: ALL\n`);
    ward.edit(agentConfig, '"$USER"', `"${agent.name}"`);
    chmodSync(dirname(ward.dir), 0o755);
    execFileSync("chown", ["-R", scheduler.name, ward.dir, ward.home]);
    const run = (...args: string[]): CheckFinding[] => {
      const program = [process.execPath, builtAl, ...args, "--json", "-p", ward.dir];
      const { stdout } = spawnSync("setpriv", asUser(scheduler, ...program), {
        encoding: "utf8",
        env: { ...ward.env, HOME: "/nonexistent" },
      });
      const { findings } = JSON.parse(stdout) as { readonly findings: CheckFinding[] };
      // The machine's own folder of runs may be another user's.
      return findings.filter(
        ({ check, where }) => check === "host users" && where !== "/tmp/al-runs",
      );
    };
    try {
      const [finding] = run("doctor", "--check");
      expect(finding).toMatchObject({
        severity: "error",
        what: `sudo does not let ${scheduler.name} start runs as ${agent.name}`,
        fix: `al doctor -p ${ward.dir}`,
      });
      const [, command = ""] = /^al (\w+) -p /.exec(finding?.fix ?? "") ?? [];
      expect(run(command)).toMatchObject([{ severity: "fixed" }, { severity: "ok" }]);
      const [rule = ""] = rulesOf(ward.dir);
      expect(statSync(rule).mode & 0o777).toBe(0o440);
      expect(readFileSync(rule, "utf8")).toMatch(
        new RegExp(`_run-agent \\[a-z0-9\\]\\* --project ${ward.dir}$`, "m"),
      );
      execFileSync("visudo", ["-c", "-q"]);
      expect(run("doctor", "--check")).toMatchObject([{ severity: "ok" }]);
    } finally {
      for (const path of rulesOf(ward.dir)) rmSync(path);
      await takeOut();
      await agent.remove();
      await scheduler.remove();
    }
  });
});
