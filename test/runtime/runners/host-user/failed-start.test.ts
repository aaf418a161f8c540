import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom, NEVER } from "rxjs";
import type { Program } from "../../../../src/runtime/runners/host-user/supervisor-order.ts";
import { startProblem } from "../../../../src/runtime/runners/host-user/new-run.ts";
import { until } from "../contract.ts";
import { aRequest, aRunner, leftovers, supervisorProgram } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const program = { file: "/opt/node", args: ["/opt/al.js", "_run-agent", "dev"] };
const problem = (...lines: string[]) =>
  startProblem({ program, runAs: "al-agent", env: {} }, lines);

test.each([
  [["spawn sudo ENOENT"], "install sudo"],
  [["sudo: unknown user al-agent", "sudo: error initializing audit plugin"], "useradd --system"],
  [["sudo: a password is required"], '"al doctor" writes the sudoers rule'],
  [["node:internal", "    throw err;", "Error: Cannot find module '/opt/al.js'"], "/opt/al.js"],
  [["sudo: unable to execute /opt/node: Permission denied"], "/opt/node"],
])("a run that another OS user could not start with %j has advice", (lines, remedy) => {
  const told = problem(...lines);
  expect(told).toContain('no run as OS user "al-agent"');
  expect(told).toContain(remedy);
  expect(told).not.toMatch(/audit plugin|throw err/);
});

test("a run that another OS user could not start reports that no reason was given", () =>
  expect(problem()).toContain("no reason was given"));

test("a run that another OS user could not start as the scheduler's own user is reported without sudo", () => {
  const told = startProblem({ program, runAs: "$USER", env: {} }, ["spawn /opt/node EACCES"]);
  expect(told).toBe("the run's process cannot be started: spawn /opt/node EACCES");
});

/** A supervisor that makes its working directory and then runs `line`. Orders to end a run reach the real one. */
function supervisorOf(workDir: string, line: string): () => Program {
  const { file, args } = supervisorProgram("dev");
  const script = `mkdir "${workDir}" && ${line}; exec "$0" "$@"`;
  return () => ({ file: "/bin/sh", args: ["-c", script, file, ...args] });
}

function emptyBaseDir(): string {
  const baseDir = tempDir();
  return baseDir;
}

test("a supervisor that is killed between making its working directory and its first record leaves nothing of its run", async () => {
  const baseDir = emptyBaseDir();
  const request = aRequest("echo hi");
  const runAgent = supervisorOf(join(baseDir, request.instanceId), "kill -9 $$");
  const runner = aRunner(baseDir, { runAgent });
  const exit = await lastValueFrom(runner.run(request, NEVER));
  expect(exit).toMatchObject({
    type: "exit",
    exit: { rejected: expect.stringContaining("cannot be started") as string },
  });
  expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
});

test.each([
  ["does not end", "exec sleep 300"],
  ["was killed", "kill -9 $$"],
])(
  "a run that can't be prepared ends and leaves nothing, even if its supervisor %s",
  async (_how, line) => {
    const baseDir = emptyBaseDir();
    const request = aRequest("echo hi");
    const workDir = join(baseDir, request.instanceId);
    const runner = aRunner(baseDir, {
      runAgent: supervisorOf(workDir, line),
      prepare: async () => {
        await until(() => Promise.resolve(existsSync(workDir)));
        throw new Error("no such repository");
      },
    });
    expect(await lastValueFrom(runner.run(request, NEVER))).toMatchObject({
      exit: { rejected: "no such repository" },
    });
    expect(readdirSync(baseDir)).toEqual([]);
  },
);
