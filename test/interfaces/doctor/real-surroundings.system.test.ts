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
import { perTest } from "../../helpers/per-test.ts";
import { builtAl } from "../../helpers/scheduler.ts";
import { agentConfig, ward } from "./support.ts";
import { like } from "../../helpers/like.ts";
import { noteSkipped } from "../../helpers/note-skipped.ts";

const { engine, missing } = await testEngine();
const noOsUsers = whyNoOsUsers();
noteSkipped("the doctor writes no rule", noOsUsers);

describe.skipIf(missing !== null)("on a real container engine, the doctor", () => {
  test(
    "finds containers that a run left, with a fix that works",
    async () => {
      Reflect.deleteProperty(ward.env, "DOCKER_HOST");
      if (process.env.DOCKER_HOST) ward.env.DOCKER_HOST = process.env.DOCKER_HOST;
      const instance = "dev-abcd2345";
      const Labels = { [projectLabel]: projectId(ward.dir), [instanceLabel]: instance };
      const left = await engine
        .calls()
        .createContainer({ Image: testBase, Cmd: ["sleep", "600"], Labels });
      onTestFinished(() => left.remove({ force: true }).catch(() => undefined));
      await left.start();
      const found = await ward.found("containers");
      expect(found).toMatchObject([
        {
          severity: "warning",
          what: `1 container left by runs of an earlier scheduler: ${instance}`,
          fix: `docker rm --force ${left.id.slice(0, 12)}`,
        },
      ]);
      await ward.fix(found[0]);
      expect(await ward.found("containers")).toMatchObject([{ severity: "ok" }]);
    },
    engineSetupMs,
  );
});

describe.skipIf(noOsUsers !== null)("with other OS users, the doctor", () => {
  const scheduler = perTest(tempUser, (user) => user.remove());

  /** The findings about OS users of a command of the scheduler's user. */
  function findings(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
    for (const dir of [dirname(ward.dir), ward.home]) chmodSync(dir, 0o755);
    const program = [process.execPath, builtAl, ...command, "--json", "-p", ward.dir];
    const { stdout } = spawnSync("/usr/bin/setpriv", asUser(scheduler(), ...program), {
      encoding: "utf8",
      env: { ...ward.env, HOME: "/nonexistent", ...env },
    });
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly CheckFinding[] };
    // The machine's own folder of runs may be another user's.
    return findings.filter(
      ({ check, where }) => check === "host users" && where !== "/tmp/al-runs",
    );
  }

  /** The agent's user is not there, and neither is sudo. */
  function withoutSudo(): void {
    ward.edit(agentConfig, '"$USER"', '"al-nobody-yet"');
    ward.env.PATH = join(ward.home, "bin");
    mkdirSync(ward.env.PATH, { recursive: true });
    for (const name of ["sh", "id", "unshare"]) {
      symlinkSync(`/usr/bin/${name}`, join(ward.env.PATH, name));
    }
  }
  const noSudo = "sudo, which starts runs as the OS user al-nobody-yet, is not installed";

  test("prints, for a user without sudo, the sudoers rule and each step that root must do", () => {
    withoutSudo();
    const [finding] = findings(["doctor"], { AL_HOME: "/nonexistent" });
    const rule = `${scheduler().name} ALL=\\(al-nobody-yet\\) NOPASSWD: .+$`;
    expect(finding?.what).toMatch(
      new RegExp(
        `^${noSudo}; with it /etc/sudoers\\.d/almanac-\\w+ has to contain this rule:\n# Almanac: [^]*${rule}`,
      ),
    );
    expect(finding?.fix).toMatch(
      /^as root: apt-get install sudo && useradd --system .+ --shell \/usr\/sbin\/nologin -- al-nobody-yet && visudo -f \/etc\/sudoers\.d\/almanac-\w+$/,
    );
  });

  test("reports why a missing sudoers rule can't be repaired", async () => {
    const agent = await tempUser();
    onTestFinished(agent.remove);
    ward.edit(agentConfig, '"$USER"', `"${agent.name}"`);
    const [finding] = findings(["doctor"], { AL_HOME: "/nonexistent" });
    expect(finding?.what).toMatch(
      new RegExp(
        `^sudo does not let ${scheduler().name} start runs as ${agent.name}.*it could not be repaired: sudo visudo .+ failed`,
        "s",
      ),
    );
  });

  test("advises no sudoers rule to root, who does not need one", async () => {
    withoutSudo();
    const fix = /^apt-get install sudo && useradd .+ al-nobody-yet$/;
    expect((await ward.found("host users"))[0]).toMatchObject({
      what: noSudo,
      fix: like(fix),
    });
  });

  test("advises root to run al as the owner of credentials", async () => {
    execFileSync("chown", ["-R", "65534", ward.home]);
    const fixes = (await ward.found("permissions")).map(({ fix }) => fix);
    expect(new Set(fixes)).toEqual(
      new Set(["run al as its owner instead of root: sudo -u '#65534' al …"]),
    );
  });

  test("finds a missing sudoers rule, with a fix that works", async () => {
    const { name } = scheduler();
    const agent = await tempUser();
    onTestFinished(agent.remove);
    // An administrator, who is no agent's user by that.
    onTestFinished(await withSudoersRule(`${name} ALL=(root) NOPASSWD: ALL\n`));
    onTestFinished(() => rulesOf(ward.dir).forEach((path) => rmSync(path)));
    ward.edit(agentConfig, '"$USER"', `"${agent.name}"`);
    execFileSync("chown", ["-R", name, ward.dir, ward.home]);
    expect(findings(["doctor", "--check"])).toMatchObject([
      {
        severity: "error",
        what: `sudo does not let ${name} start runs as ${agent.name}`,
        fix: `al doctor -p ${ward.dir}`,
      },
    ]);
    expect(findings(["doctor"])).toMatchObject([{ severity: "fixed" }, { severity: "ok" }]);
    const [rule = ""] = rulesOf(ward.dir);
    expect(statSync(rule).mode & 0o777).toBe(0o440);
    expect(readFileSync(rule, "utf8")).toMatch(
      new RegExp(`_run-agent \\[a-z0-9\\]\\* --project ${ward.dir}$`, "m"),
    );
    execFileSync("visudo", ["-c", "-q"]);
    expect(findings(["doctor", "--check"])).toMatchObject([{ severity: "ok" }]);
  });
});

/** Files of rules for a project's runs. */
function rulesOf(projectDir: string): string[] {
  const grep = ["-c", `grep -ls -- '${projectDir}' /etc/sudoers.d/* || true`];
  return execFileSync("sh", grep).toString().split("\n").filter(Boolean);
}
