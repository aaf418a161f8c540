import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { builtAl } from "../../helpers/scheduler.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

test("al --help lists the commands on standard output, without hidden ones", async () => {
  const stdout = await cli.output("--help");
  for (const command of ["start", "stat", "logs", "history", "run", "pause", "kill", "stop"]) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, "m"));
  }
  expect(stdout).not.toContain("_run-agent");
});

test("al help and --help of a command list the common options", async () => {
  const help = await cli.output("budget raise --help");
  expect(help).toMatch(/--json[^]*--project <dir>|--project <dir>[^]*--json/);
  await cli.prints("help budget raise", help);
});

test("al --version prints the package's version", async () => {
  await cli.prints("--version", /^\d+\.\d+\.\d+\n$/);
});

test.each([
  ["--version", 0, { version: expect.stringMatching(/^\d+\./) as string }],
  ["help", 0, { path: ["al"] }],
  ["creds add --help", 0, { path: ["al", "creds", "add"] }],
  ["help run", 0, { path: ["al", "run"] }],
])("al %j --json exits with %i and prints one JSON document", async (line, code, document) => {
  const ran = await cli.al(`${line} --json`);
  expect(ran.code).toBe(code);
  expect(JSON.parse(ran.stdout)).toMatchObject(document);
});

test.skipIf(process.getuid?.() !== 0).each(["stat", "logs"])(
  "al %s reports a project of another OS user as such",
  (command) => {
    const state = join(cli.projectDir, ".al");
    mkdirSync(join(state, "run"), { recursive: true });
    chmodSync(state, 0o700);
    chmodSync(join(cli.projectDir, ".."), 0o755);
    const ran = spawnSync(process.execPath, [builtAl, command, "-p", cli.projectDir], {
      uid: 65_534,
      gid: 65_534,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: "/nonexistent" },
    });
    expect(ran.stderr).toMatch(
      /is not accessible to you: it belongs to the OS user root[^]*sudo -u/,
    );
    expect(ran.status).toBe(1);
  },
);

test.each(["stat", "history", "pause", "stop", "kill a", "logs -f"])(
  "al %s without a scheduler reports that none runs, and how to start one",
  async (line) =>
    await cli.fails(
      line,
      /^error: No scheduler is running for .*\.\nhint: Start it with `al start`\./,
    ),
);
