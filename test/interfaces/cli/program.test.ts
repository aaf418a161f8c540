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

test("al without a subcommand prints help as a usage error", async () => {
  const { code, stdout, stderr } = await cli.al("webhook");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^(?![^]*error:)[^]*Usage: al webhook/);
});

test.each([
  ["--version", 0, { version: expect.stringMatching(/^\d+\./) as string }],
  ["help", 0, { path: ["al"] }],
  ["creds add --help", 0, { path: ["al", "creds", "add"] }],
  ["help run", 0, { path: ["al", "run"] }],
  ["", 2, { error: { code: "usage" } }],
  [
    "sta",
    2,
    { error: { code: "usage", message: "unknown command 'sta'", hint: 'did you mean "stat"?' } },
  ],
  ["stat", 1, { error: { code: "not_running" } }],
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
    expect(ran.stderr).toMatch(/is closed to you: it belongs to the OS user root[^]*sudo -u/);
    expect(ran.status).toBe(1);
  },
);

test.each([
  ["strat", "unknown command 'strat'", 'did you mean "start" or "stat"?'],
  ["xyzzy", "unknown command 'xyzzy'", "al --help lists the commands"],
  ["webhook tset", "unknown command 'tset'", 'did you mean "test"?'],
  ["stat --jsn", "unknown option '--jsn'", 'did you mean "--json"?'],
  ["help creds ad", "unknown command 'ad'", 'did you mean "add"?'],
  ["alerts lst", "too many arguments", 'did you mean "list"?'],
  ["kill", "give an agent, a run, or --all", "al kill --help shows how it is used"],
  ["creds rm", "missing required argument", "al creds rm --help shows how it is used"],
  ["run a --xyzzy", "unknown option", "al run --help shows how it is used"],
  ["start --port http", "whole number from 0 to 65535", "al start --help shows"],
  ["logs --since 9h30", "10m", ""],
  ["history --outcome faild", "Allowed choices are", 'did you mean "failed"?'],
  ["completion tcsh", "Allowed choices are bash, zsh, fish", ""],
  ["budget raise dev much", "much is not an amount", "expected an amount of USD above 0"],
])("al %s is a usage error: %j with the hint %j", async (line, message, hint) => {
  const { code, stdout, stderr } = await cli.al(line);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error: (?![^]* {4}at )/);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

test.each(["stat", "history", "pause", "stop", "kill a", "logs -f"])(
  "al %s without a scheduler reports that none runs, and how to start one",
  async (line) =>
    await cli.fails(line, /^error: no scheduler is running for .*\nhint: al start starts one/),
);

test("al has different errors for a missing directory and for one that is not a project", async () => {
  const line = `stat -p ${cli.home}`;
  await cli.fails(line, `${cli.home} is not a directory`, 2);
  mkdirSync(cli.home);
  await cli.fails(line, "holds no config.toml");
});
