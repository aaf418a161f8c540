import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, NEVER } from "rxjs";
import type { Program } from "../../../../src/runtime/wire/supervisor-order.ts";
import { startProblem } from "../../../../src/runtime/runners/host-user/new-run.ts";
import { aRequest, processesOf } from "../shell-runs.ts";
import { aRunner, supervisorProgram } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { like } from "../../../helpers/like.ts";

const program = { file: "/opt/node", args: ["/opt/al.js", "_run-agent", "dev"] };
const problem = (lines: readonly string[], runAs = "al-agent") =>
  startProblem({ program, runAs, env: {} }, lines);

test.each([
  [["spawn sudo ENOENT"], "install sudo"],
  [["sudo: unknown user al-agent", "sudo: error initializing audit plugin"], "useradd --system"],
  [["sudo: a password is required"], '"al doctor" writes the sudoers rule'],
  [["node:internal", "    throw err;", "Error: Cannot find module '/opt/al.js'"], "/opt/al.js"],
  [["sudo: unable to execute /opt/node: Permission denied"], "/opt/node"],
  [[], "no reason was given"],
])("a failed start as another OS user reports a fix for the output %j", (lines, remedy) => {
  const told = problem(lines);
  expect(told).toContain('no run as OS user "al-agent"');
  expect(told).toContain(remedy);
  expect(told).not.toMatch(/audit plugin|throw err/);
});

test("a failed start as the scheduler's own user is reported without advice about sudo", () =>
  expect(problem(["spawn /opt/node EACCES"], "$USER")).toBe(
    "the run's process cannot be started: spawn /opt/node EACCES",
  ));

/** A supervisor that makes its working directory and then runs `line`. Orders to end a run reach the real one. */
function supervisorOf(workDir: string, line: string): () => Program {
  const { file, args } = supervisorProgram("dev");
  const script = `mkdir "${workDir}" && ${line}; exec "$0" "$@"`;
  return () => ({ file: "/bin/sh", args: ["-c", script, file, ...args] });
}

/** A run whose supervisor does this, until its end. */
async function started(line: string, options: Parameters<typeof aRunner>[1] = {}) {
  const baseDir = tempDir();
  const request = aRequest("echo hi");
  const runAgent = supervisorOf(join(baseDir, request.instanceId), line);
  const exit = await lastValueFrom(aRunner(baseDir, { runAgent, ...options }).run(request, NEVER));
  return { exit, left: [...readdirSync(baseDir), ...(await processesOf(request.instanceId))] };
}

test("a run whose supervisor is killed before it writes a record leaves no process and no file", async () => {
  const { exit, left } = await started("kill -9 $$");
  const rejected = like("cannot be started");
  expect(exit).toMatchObject({ exit: { rejected } });
  expect(left).toEqual([]);
});

test.each([
  ["does not end", "exec sleep 300"],
  ["was killed", "kill -9 $$"],
])(
  "a run that can't be prepared leaves no process and no file, even if its supervisor %s",
  async (_how, line) => {
    const prepare = async (_request: unknown, workDir: string) => {
      await expect.poll(() => existsSync(workDir)).toBe(true);
      throw new Error("no such repository");
    };
    const { exit, left } = await started(line, { prepare });
    expect(exit).toMatchObject({ exit: { rejected: "no such repository" } });
    expect(left).toEqual([]);
  },
);
