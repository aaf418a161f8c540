import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { systemdUnit } from "../../../../src/interfaces/cli/systemd/print-unit.ts";
import { cliProject } from "../fake-operator.ts";

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) process.stderr.write("skipped: systemd-analyze verify (it is not installed)\n");

const cli = cliProject();
beforeEach(() => writeFileSync(join(cli.projectDir, "config.toml"), models));

const models = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';

function addAgent(name: string, runtime: string): void {
  const config = `models = ["main"]\ncredentials = []\nschedule = "0 9 * * *"\n[runtime]\n${runtime}\n`;
  cli.write(`agents/${name}/SKILL.md`, "Do it.\n");
  cli.write(`agents/${name}/config.toml`, config);
}

/** What systemd says against a unit; nothing when all is well. */
function verified(unit: string): string {
  if (!hasSystemd) return "";
  const file = join(cli.projectDir, "almanac-test.service");
  writeFileSync(file, `${unit}\n`);
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  return `${stdout}${stderr}`;
}

function valueOf(unit: string, key: string): string | undefined {
  return new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1];
}

test("al start --print-systemd prints a unit that systemd accepts, and how to install it on standard error", async () => {
  addAgent("dev", 'type = "host-user"\nrun_as = "$USER"');
  const args = ["start", "--print-systemd", "--web-ui", "--port", "9000", "--grace", "90"];
  const { code, stdout, stderr } = await cli.al(args);
  expect(code).toBe(0);
  expect(verified(stdout)).toBe("");
  expect(valueOf(stdout, "WorkingDirectory")).toBe(cli.projectDir);
  expect(valueOf(stdout, "User")).toBe(userInfo().username);
  expect(valueOf(stdout, "Environment")).toBe(`AL_HOME=${cli.home}`);
  expect(valueOf(stdout, "ExecStart")).toMatch(/^\/\S+ \/\S+ start .*--port 9000/);
  expect(Number(valueOf(stdout, "TimeoutStopSec"))).toBeGreaterThan(90);
  expect(valueOf(stdout, "NoNewPrivileges")).toBe("yes");
  // A crash must leave runs and their logs for the next start, and a run its own /proc.
  expect(valueOf(stdout, "KillMode")).toBe("process");
  for (const key of ["PrivateTmp", "ProtectProc", "ProtectKernelTunables", "ProtectHostname"]) {
    expect(valueOf(stdout, key)).toBeUndefined();
  }
  expect(stderr).toContain("/etc/systemd/system/almanac-project.service");
  expect(stderr).toContain("systemctl enable --now almanac-project");
});

test("al start --print-systemd lets sudo gain privileges only where an agent runs as another OS user", async () => {
  addAgent("dev", 'type = "host-user"\nrun_as = "al-agent"');
  const { stdout } = await cli.al("start --print-systemd");
  expect(valueOf(stdout, "NoNewPrivileges")).toBe("no");
  // These would forbid it again.
  for (const key of ["RestrictSUIDSGID", "LockPersonality", "CapabilityBoundingSet"]) {
    expect(valueOf(stdout, key)).toBeUndefined();
  }
  expect(verified(stdout)).toBe("");
});

test("al start --print-systemd waits for the engine when an agent runs in a container", async () => {
  addAgent("boxed", 'type = "container"');
  const { stdout } = await cli.al("start --print-systemd --json");
  const { file, unit } = JSON.parse(stdout) as { file: string; unit: string };
  expect(file).toBe("almanac-project.service");
  expect(valueOf(unit, "After")).toContain("docker.service");
  expect(verified(unit)).toBe("");
});

test("al start --print-systemd starts the project from anywhere, with nothing else in the environment, and stops on SIGTERM", async () => {
  addAgent("dev", 'type = "host-user"\nrun_as = "$USER"');
  const { stdout } = await cli.process("start --print-systemd --port 0");
  const [file = "", ...args] = valueOf(stdout, "ExecStart")?.split(" ") ?? [];
  const [name = "", home = ""] = valueOf(stdout, "Environment")?.split("=") ?? [];
  const env = { PATH: "/usr/bin:/bin", HOME: cli.home, [name]: home };
  const child = spawn(file, args, { cwd: "/", env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (!output.includes("API key:") && text.includes("API key:")) child.kill("SIGTERM");
    output += text;
  });
  const code = await new Promise((done) => child.once("close", done));
  expect(output).toContain(`runs ${cli.projectDir}`);
  expect(code).toBe(0);
});

test("al start --print-systemd reports why a project can't be started", async () => {
  writeFileSync(join(cli.projectDir, "config.toml"), "workQueueSize = 0\n");
  const { code, stdout, stderr } = await cli.al("start --print-systemd");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("config.toml:1:");
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

test("a unit escapes the characters that systemd would interpret", () => {
  const unit = systemdUnit(facts);
  expect(verified(unit)).toBe("");
  expect(valueOf(unit, "WorkingDirectory")).toBe("/srv/my project");
  expect(valueOf(unit, "ReadWritePaths")).toBe('"/srv/my project" "-/srv/my home"');
  expect(valueOf(unit, "ExecStart")).toContain(' "a \\"50%%\\" $$HOME\\\\x"');
  expect(valueOf(unit, "Environment")).toBe('"TZ=$no 100%%"');
});

test("a unit rejects a path with a line break", () =>
  expect(() => systemdUnit({ ...facts, projectDir: "/srv/x\nExecStartPre=/bin/evil" })).toThrow(
    "cannot be part of a systemd unit",
  ));
