import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { builtAl } from "../../helpers/scheduler.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

test("help lists the commands on standard output, without the hidden one", async () => {
  const { code, stdout, stderr } = await cli.al(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const command of ["start", "stat", "logs", "history", "run", "pause", "kill", "stop"]) {
    expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, "m"));
  }
  expect(stdout).not.toContain("_run-agent");
});

test("help of a command names the options that every command has", async () => {
  const stdout = await cli.output(["stat", "--help"]);
  expect(stdout).toContain("--project <dir>");
  expect(stdout).toContain("--json");
});

test("help of a command below another is that command's", async () => {
  const raise = await cli.output(["budget", "raise", "--help"]);
  expect(await cli.output(["help", "budget", "raise"])).toBe(raise);
});

test("the version is the package's", async () => {
  const stdout = await cli.output(["--version"]);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe("--json", () => {
  test("the version and helps are documents", async () => {
    const json = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await cli.al([...args, "--json"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    expect(await json("--version")).toEqual({ version: expect.stringMatching(/^\d+\./) as string });
    expect(await json("help")).toMatchObject({ path: ["al"] });
    const creds = { path: ["al", "creds", "add"] };
    expect(await json("creds", "add", "--help")).toMatchObject(creds);
    expect(await json("help", "run")).toMatchObject({ path: ["al", "run"] });
    expect((await cli.al(["help", "nope", "--json"])).code).toBe(2);
  });

  test.each([[[]], [["agent"]]])("without a command (%j) is one document", async (args) => {
    const { code, stdout } = await cli.al([...args, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "usage" } });
  });
});

describe.skipIf(process.getuid?.() !== 0)("a project of another OS user", () => {
  const nobody = 65_534;

  test.each([["stat"], ["logs"]])("is reported as such by al %s", (command) => {
    const state = join(cli.projectDir, ".al");
    mkdirSync(join(state, "run"), { recursive: true });
    chmodSync(state, 0o700);
    chmodSync(join(cli.projectDir, ".."), 0o755);
    const ran = spawnSync(process.execPath, [builtAl, command, "-p", cli.projectDir], {
      uid: nobody,
      gid: nobody,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: "/nonexistent" },
    });
    expect(ran.stderr).toContain("is closed to you: it belongs to the OS user root");
    expect(ran.stderr).toContain("sudo -u");
    expect(ran.status).toBe(1);
  });
});

test.each([
  [["sta"], "unknown command 'sta'", 'did you mean "stat"?'],
  [["strat"], "unknown command 'strat'", 'did you mean "start" or "stat"?'],
  [["xyzzy"], "unknown command 'xyzzy'", "al --help lists the commands"],
  [["stat", "--jsn"], "unknown option '--jsn'", 'did you mean "--json"?'],
  [["help", "stta"], "unknown command 'stta'", 'did you mean "stat"?'],
  [["help", "nope"], "unknown command 'nope'", "al --help lists the commands"],
  [["help", "creds", "ad"], "unknown command 'ad'", 'did you mean "add"?'],
  [["alerts", "lst"], "too many arguments", 'did you mean "list"?'],
  [["kill"], "give an agent, a run, or --all", "al kill --help shows how it is used"],
  [["creds", "rm"], "missing required argument", "al creds rm --help shows how it is used"],
  [["run", "a", "--xyzzy"], "unknown option", "al run --help shows how it is used"],
  [["--xyzzy"], "unknown option", "al --help shows how it is used"],
  [["start", "--port", "http"], "whole number from 0 to 65535", "al start --help shows"],
  [["logs", "--since", "yesterday"], "10m", undefined],
  [["logs", "--since", "9h30"], "10m", undefined],
  [["history", "--outcome", "faild"], "Allowed choices are", 'did you mean "failed"?'],
  [["completion", "bas"], "Allowed choices are", 'did you mean "bash"?'],
  [["stat", "extra"], "too many arguments", undefined],
  [
    ["budget", "raise", "dev", "much"],
    "much is not an amount",
    "expected an amount of USD above 0",
  ],
])(
  "a usage error: %j exits with 2 and a message on standard error",
  async (args, message, hint) => {
    const { code, stdout, stderr } = await cli.al(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
    if (hint !== undefined) expect(stderr).toContain(`hint: ${hint}`);
    expect(stderr).not.toContain("    at ");
  },
);

test("a usage error with --json is one document on standard output", async () => {
  const { code, stdout, stderr } = await cli.al(["sta", "--json"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    error: { code: "usage", message: "unknown command 'sta'", hint: 'did you mean "stat"?' },
  });
});

describe("without a scheduler", () => {
  test.each([["stat"], ["history"], ["pause"], ["stop"], ["kill", "a"], ["logs", "-f"]])(
    "al %s reports that none runs, and how to start one",
    async (...args) => {
      const { code, stdout, stderr } = await cli.al(args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`error: no scheduler is running for ${cli.projectDir}`);
      expect(stderr).toContain("hint: al start starts one");
      expect(stderr).not.toContain("    at ");
    },
  );

  test("--json reports the same as a document", async () => {
    const { code, stdout } = await cli.al(["stat", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "not_running" } });
  });

  test("a missing directory and one that is not a project have different messages", async () => {
    const absent = await cli.al(["stat", "-p", cli.home]);
    expect(absent).toMatchObject({ code: 2, stdout: "" });
    expect(absent.stderr).toContain(`${cli.home} is not a directory`);
    mkdirSync(cli.home);
    const other = await cli.al(["-p", cli.home, "stat"]);
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toContain("holds no config.toml");
  });
});
