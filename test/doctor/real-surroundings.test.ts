import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Diagnosis } from "../../src/doctor/examine.ts";
import { instanceLabel, projectId, projectLabel } from "../../src/runners/container/labels.ts";
import { engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { asUser, tempUser, whyNoOsUsers, withSudoersRule } from "../helpers/os-users.ts";
import { agentConfig } from "./fault.ts";
import { makeWard } from "./support.ts";
import type { Ward } from "./support.ts";

const { engine, missing } = await testEngine();
const noOsUsers = whyNoOsUsers();
if (noOsUsers !== null) process.stderr.write(`skipped: the doctor writes no rule (${noOsUsers})\n`);

let ward: Ward;
beforeEach(async () => {
  ward = await makeWard();
});
afterEach(() => ward.remove());

describe.skipIf(missing !== null)("on a real engine, the doctor", () => {
  test(
    "finds what a run left, and its fix cures it",
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
        const finding = (await ward.examine()).find(({ check }) => check === "containers");
        expect(finding).toMatchObject({
          severity: "warning",
          what: `runs of a scheduler that is gone left 1: ${instance}`,
          fix: `docker rm --force ${left.id.slice(0, 12)}`,
        });
        const { code, output } = await ward.bash(finding?.fix ?? "");
        expect({ code, output }).toMatchObject({ code: 0 });
        const after = (await ward.examine()).find(({ check }) => check === "containers");
        expect(after).toMatchObject({ severity: "ok" });
      } finally {
        await left.remove({ force: true }).catch(() => undefined);
      }
    },
    engineSetupMs,
  );
});

describe.skipIf(noOsUsers !== null)("for a scheduler that may use sudo, the doctor", () => {
  test("finds a missing sudoers rule, and its fix cures it", async () => {
    const [agent, scheduler] = [await tempUser(), await tempUser()];
    // An administrator, who is no agent's user by that.
    const takeOut = await withSudoersRule(`${scheduler.name} ALL=(root) NOPASSWD: ALL\n`);
    ward.edit(agentConfig, '"$USER"', `"${agent.name}"`);
    chmodSync(dirname(ward.dir), 0o755);
    execFileSync("chown", ["-R", scheduler.name, ward.dir, ward.home]);
    const al = resolve(import.meta.dirname, "../../src/cli/al.ts");
    const run = (...args: string[]): Diagnosis[] => {
      const program = [process.execPath, al, ...args, "--json", "-p", ward.dir];
      const { stdout } = spawnSync("setpriv", asUser(scheduler, ...program), {
        encoding: "utf8",
        env: { ...ward.env, HOME: "/nonexistent" },
      });
      const { findings } = JSON.parse(stdout) as { readonly findings: Diagnosis[] };
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
      expect(run("doctor", "--check")).toMatchObject([{ severity: "ok" }]);
    } finally {
      const rules = `grep -ls -- '${ward.dir}' /etc/sudoers.d/* | xargs -r rm -f`;
      execFileSync("sh", ["-c", rules]);
      await takeOut();
      await agent.remove();
      await scheduler.remove();
    }
  });
});
