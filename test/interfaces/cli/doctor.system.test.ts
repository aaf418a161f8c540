import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asUser, tempUser, whyNoOsUsers } from "../../helpers/os-users.ts";
import { builtAl } from "../../helpers/scheduler.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();
beforeEach(async () => {
  rmSync(cli.projectDir, { recursive: true });
  expect(await cli.al(`new ${cli.projectDir} -p /`)).toMatchObject({ code: 0 });
  await cli.al("config --set gateway.port=0");
});

const noOsUsers = whyNoOsUsers();
if (noOsUsers !== null)
  process.stderr.write(`skipped: al doctor makes no OS user (${noOsUsers})\n`);

const keyPath = () => join(cli.home, "credentials/gateway_api_key/default/key");

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly severity: string;
    readonly what: string;
    readonly fix: string | null;
  }[];
}

async function report(...args: string[]): Promise<Report & { readonly code: number | null }> {
  const { code, stdout } = await cli.al(["doctor", "--json", ...args]);
  return { code, ...(JSON.parse(stdout) as Report) };
}

test("al doctor makes the API key of a new project and finds no error", async () => {
  const checked = await cli.al("doctor --check");
  expect(checked.code).toBe(0);
  expect(checked.stdout).toMatch(/warning +api key +there is no API key[^]+fix: al doctor\n/);
  expect(existsSync(cli.home)).toBe(false);
  const { code, stdout, stderr } = await cli.al("doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^fixed +api key/m);
  expect(stdout).toMatch(/^ok +schedules +hello: Every minute/m);
  expect(stderr).toContain("0 errors, 0 warnings, 1 fixed");
  expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
  expect((await cli.al("doctor --strict")).stderr).toContain("All is well.");
});

test("al doctor exits with 1 on errors, and names place and fix", async () => {
  const path = join(cli.projectDir, "agents/hello/config.toml");
  writeFileSync(path, readFileSync(path, "utf8").replace('"* * * * *"', '"often"'));
  const { code, stdout } = await cli.al("doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(/error +agents +schedule "often" is not a cron expression/);
  expect(stdout).toMatch(/at agents\/hello\/config\.toml:5:12\n +fix: edit/);
  expect(await report("--check")).toMatchObject({ code: 1, ok: false });
});

test("al doctor accepts warnings, but not with --strict", async () => {
  await cli.al("doctor");
  const path = join(cli.projectDir, "config.toml");
  writeFileSync(path, `wrkQueueSize = 3\n${readFileSync(path, "utf8")}`);
  expect(await report()).toMatchObject({ code: 0, ok: true });
  expect(await report("--strict")).toMatchObject({ code: 1, ok: false });
});

test("al doctor finds a directory that is not a project, and names how to make one", async () => {
  const empty = join(cli.projectDir, "empty");
  mkdirSync(empty);
  const { code, stdout } = await cli.al(`doctor --check -p ${empty}`);
  expect(code).toBe(1);
  expect(stdout).toContain(`fix: al new ${empty}`);
});

test("the API key is shown alone, so that a script can take it", async () => {
  const stdout = await cli.output("doctor --show-key");
  expect(stdout).toBe(readFileSync(keyPath(), "utf8"));
});

test("the API key is regenerated on demand, and shown only on request", async () => {
  const first = (await cli.al("doctor --show-key")).stdout.trim();
  const stdout = await cli.output("doctor --regenerate-key");
  const second = readFileSync(keyPath(), "utf8").trim();
  expect(second).not.toBe(first);
  expect(stdout).not.toContain(second);
  const shown = await cli.al("doctor --regenerate-key --show-key");
  expect(shown.stdout).toBe(readFileSync(keyPath(), "utf8"));
  expect(shown.stdout.trim()).not.toBe(second);
});

test("the API key is kept with --check", async () => {
  expect(await cli.al("doctor --regenerate-key --check")).toMatchObject({ code: 2 });
  expect(existsSync(keyPath())).toBe(false);
});

describe.skipIf(noOsUsers !== null)("an agent's OS user", () => {
  const name = `al-doctor-${process.pid}`;
  const rules = () =>
    execFileSync("sh", ["-c", `grep -ls -- '${cli.projectDir}' /etc/sudoers.d/* || true`])
      .toString()
      .split("\n")
      .filter((path) => path !== "");
  beforeEach(async () => {
    await cli.output(`config hello --set runtime.run_as=${name}`);
  });
  afterEach(() => {
    spawnSync("userdel", [name]);
    for (const path of rules()) rmSync(path);
  });

  test("is created for root without a rule, which root does not need, and not with --check", async () => {
    const before = await report("--check");
    expect(before.code).toBe(1);
    expect(before.findings).toContainEqual(
      expect.objectContaining({ severity: "error", what: `the OS user ${name} does not exist` }),
    );
    expect(spawnSync("id", [name]).status).not.toBe(0);

    const after = await report();
    const found = after.findings.filter(({ check }) => check === "host users");
    expect(found, JSON.stringify(found)).toMatchObject([{ severity: "fixed" }, { severity: "ok" }]);
    const [, , , , , , shell] = execFileSync("getent", ["passwd", name]).toString().split(":");
    expect(shell?.trim()).toBe("/usr/sbin/nologin");
    expect(rules()).toEqual([]);
    expect(await report("--check")).toMatchObject({ code: 0, ok: true });
  });

  test("that sudo allows to no one is reported, with why it can't be repaired", async () => {
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
