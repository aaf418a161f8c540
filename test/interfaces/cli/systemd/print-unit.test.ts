import { spawn, spawnSync } from "node:child_process";
import { userInfo } from "node:os";
import { systemdUnit } from "../../../../src/interfaces/cli/systemd/print-unit.ts";
import { cliProject, scriptedModel } from "../fake-operator.ts";

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) process.stderr.write("skipped: systemd-analyze verify (it is not installed)\n");

const cli = cliProject();

/** The project's only agent. */
function addAgent(runtime: string): void {
  cli.write("config.toml", scriptedModel);
  cli.addAgent("dev", `schedule = "0 9 * * *"\n[runtime]\n${runtime}`);
}
const ownUser = 'type = "host-user"\nrun_as = "$USER"';

/** The values of a unit by key, undefined for absent ones. systemd must accept it, where that is installed. */
function valuesOf(unit: string): (key: string) => string | undefined {
  const file = cli.write("almanac-test.service", `${unit}\n`);
  const { stdout, stderr } = hasSystemd
    ? spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    : { stdout: "", stderr: "" };
  expect(stdout + stderr).toBe("");
  return (key) => new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1];
}

describe("al start --print-systemd", () => {
  test("prints a unit, and on standard error how to install it", async () => {
    addAgent(ownUser);
    const flags = "--web-ui --port 9000 --grace 90";
    const { stdout, stderr } = await cli.al(`start --print-systemd ${flags}`);
    const value = valuesOf(stdout);
    expect(value("WorkingDirectory")).toBe(cli.projectDir);
    expect(value("User")).toBe(userInfo().username);
    expect(value("Environment")).toBe(`AL_HOME=${cli.home}`);
    expect(value("ExecStart")).toMatch(/^\/\S+ \/\S+ start .*--port 9000/);
    expect(Number(value("TimeoutStopSec"))).toBeGreaterThan(90);
    expect(value("NoNewPrivileges")).toBe("yes");
    // A crash must leave runs and their logs for the next start, and a run its own /proc.
    expect(value("KillMode")).toBe("process");
    for (const key of ["PrivateTmp", "ProtectProc", "ProtectKernelTunables", "ProtectHostname"]) {
      expect(value(key)).toBeUndefined();
    }
    expect(stderr).toMatch(
      /\/etc\/systemd\/system\/almanac-project\.service[^]*systemctl enable --now almanac-project/,
    );
  });

  test("lets sudo gain privileges only if an agent runs as another OS user", async () => {
    addAgent('type = "host-user"\nrun_as = "al-agent"');
    const value = valuesOf(await cli.output("start --print-systemd"));
    expect(value("NoNewPrivileges")).toBe("no");
    // These would forbid it again.
    for (const key of ["RestrictSUIDSGID", "LockPersonality", "CapabilityBoundingSet"]) {
      expect(value(key)).toBeUndefined();
    }
  });

  test("prints a unit that waits for the engine if an agent runs in a container", async () => {
    addAgent('type = "container"');
    const document = (await cli.json("start --print-systemd")) as { file: string; unit: string };
    expect(document.file).toBe("almanac-project.service");
    expect(valuesOf(document.unit)("After")).toContain("docker.service");
  });

  test("prints a unit that starts anywhere with an empty environment, and stops on SIGTERM", async () => {
    addAgent(ownUser);
    // The program of the unit is that which printed it.
    const { stdout } = await cli.process("start --print-systemd --port 0");
    const value = valuesOf(stdout);
    const [file = "", ...args] = value("ExecStart")?.split(" ") ?? [];
    const [name = "", home = ""] = value("Environment")?.split("=") ?? [];
    const env = { PATH: "/usr/bin:/bin", HOME: cli.home, [name]: home };
    const child = spawn(file, args, { cwd: "/", env, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    const ended = new Promise((done) => child.once("close", done));
    await expect.poll(() => output).toContain("API key:");
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output).toContain(`runs ${cli.projectDir}`);
  });

  test("reports why a project can't be started", async () => {
    cli.write("config.toml", "workQueueSize = 0\n");
    await cli.fails("start --print-systemd", "config.toml:1:");
  });
});

const facts = {
  projectDir: "/srv/my project",
  command: [process.execPath, "/opt/al.js", "start", 'a "50%" $HOME\\x'],
  user: "root",
  home: "/srv/my home",
  env: ["TZ=$no 100%"],
  graceSeconds: 30,
  needsSudo: false,
  needsEngine: false,
};

test("a systemd unit escapes characters that systemd would interpret", () => {
  const value = valuesOf(systemdUnit(facts));
  expect(value("WorkingDirectory")).toBe("/srv/my project");
  expect(value("ReadWritePaths")).toBe('"/srv/my project" "-/srv/my home"');
  expect(value("ExecStart")).toContain(' "a \\"50%%\\" $$HOME\\\\x"');
  expect(value("Environment")).toBe('"TZ=$no 100%%"');
});

test("a systemd unit is refused for a path with a line break", () =>
  expect(() => systemdUnit({ ...facts, projectDir: "/srv/x\nExecStartPre=/bin/evil" })).toThrow(
    "cannot be part of a systemd unit",
  ));
