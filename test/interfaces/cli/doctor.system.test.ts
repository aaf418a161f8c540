import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { asUser, tempUser, whyNoOsUsers } from "../../helpers/os-users.ts";
import { builtAl } from "../../helpers/scheduler.ts";
import { cliProject } from "./fake-operator.ts";
import { noteSkipped } from "../../helpers/note-skipped.ts";

const cli = cliProject();
beforeEach(async () => {
  rmSync(cli.projectDir, { recursive: true });
  await cli.output(`new ${cli.projectDir} -p /`);
  await cli.output("config --set gateway.port=0");
});

const noOsUsers = whyNoOsUsers();
noteSkipped("al doctor makes no OS user", noOsUsers);

const keyPath = () => join(cli.home, "credentials/gateway_api_key/default/key");
const readKey = () => cli.read("../home/credentials/gateway_api_key/default/key");

interface Report {
  readonly findings: readonly { readonly check: string; readonly what: string }[];
}

test("al doctor makes the API key of a new project and finds no error", async () => {
  await cli.prints("doctor --check", /warning +api key +there is no API key[^]+fix: al doctor\n/);
  expect(existsSync(cli.home)).toBe(false);
  const { code, stdout, stderr } = await cli.al("doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^fixed +api key[^]*^ok +schedules +hello: Every minute/m);
  expect(stderr).toContain("0 errors, 0 warnings, 1 fixed");
  expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
  expect((await cli.al("doctor --strict")).stderr).toContain("All is well.");
});

test("al doctor exits with 1 on errors, and names place and fix", async () => {
  const path = "agents/hello/config.toml";
  cli.write(path, cli.read(path).replace('"* * * * *"', '"often"'));
  const { code, stdout } = await cli.al("doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /error +agents +schedule "often" is not a cron .*\n.*at agents\/hello\/config\.toml:5:12\n +fix: edit/,
  );
});

test("al doctor accepts warnings, but not with --strict", async () => {
  await cli.output("doctor");
  cli.write("config.toml", `wrkQueueSize = 3\n${cli.read("config.toml")}`);
  await cli.output("doctor");
  await cli.failure("doctor --strict");
});

test("al doctor shows the API key alone, and regenerates it on demand, but not with --check", async () => {
  await cli.failure("doctor --regenerate-key --check", 2);
  expect(existsSync(keyPath())).toBe(false);
  const first = await cli.output("doctor --show-key");
  expect(first).toBe(readKey());
  const hidden = await cli.output("doctor --regenerate-key");
  const second = readKey();
  expect(second).not.toBe(first);
  expect(hidden).not.toContain(second.trim());
  const third = await cli.output("doctor --regenerate-key --show-key");
  expect(third).toBe(readKey());
  expect(third).not.toBe(second);
});

describe.skipIf(noOsUsers !== null)("an agent's OS user", () => {
  const name = `al-doctor-${process.pid}`;
  const rules = () =>
    execFileSync("sh", ["-c", `grep -ls -- '${cli.projectDir}' /etc/sudoers.d/* || true`])
      .toString()
      .split("\n")
      .filter((path) => path !== "");
  beforeEach(() => cli.output(`config hello --set runtime.run_as=${name}`));
  afterEach(() => {
    spawnSync("userdel", [name]);
    for (const path of rules()) rmSync(path);
  });

  test("is created by al doctor as root, without a login shell", async () => {
    await cli.output("doctor");
    const [, , , , , , shell] = execFileSync("getent", ["passwd", name]).toString().split(":");
    expect(shell?.trim()).toBe("/usr/sbin/nologin");
  });

  test("that no sudoers rule permits is reported, with why that can't be repaired", async () => {
    const scheduler = await tempUser();
    execFileSync("useradd", ["--system", "--shell", "/usr/sbin/nologin", name]);
    execFileSync("chmod", ["-R", "a+rwX", join(cli.projectDir, "..")]);
    try {
      const args = [process.execPath, builtAl, "doctor", "--json", "-p", cli.projectDir];
      const { stdout } = spawnSync("setpriv", asUser(scheduler, ...args), {
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: "/nonexistent", AL_HOME: join(cli.home, "x") },
      });
      const { findings } = JSON.parse(stdout) as Report;
      const { what = "" } = findings.find(({ check }) => check === "host users") ?? {};
      expect(what).toContain(`sudo does not let ${scheduler.name} start runs as ${name}`);
      expect(what).toMatch(/it could not be repaired: sudo visudo .+ failed/);
    } finally {
      await scheduler.remove();
    }
  });
});
