import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, NEVER } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { startProblem } from "../../../../src/runtime/runners/host-user/new-run.ts";
import { aRequest, aRunner, leftovers, supervisorProgram } from "./support.ts";

const program = { file: "/opt/node", args: ["/opt/al.js", "_run-agent", "dev"] };
const problem = (...lines: string[]) =>
  startProblem({ program, runAs: "al-agent", env: {} }, lines);

describe("a run that another OS user could not start", () => {
  it.each([
    [["spawn sudo ENOENT"], "install sudo"],
    [["sudo: unknown user al-agent", "sudo: error initializing audit plugin"], "useradd --system"],
    [["sudo: a password is required"], '"al doctor" writes the sudoers rule'],
    [["node:internal", "    throw err;", "Error: Cannot find module '/opt/al.js'"], "/opt/al.js"],
    [["sudo: unable to execute /opt/node: Permission denied"], "/opt/node"],
  ])("with %j has advice", (lines, remedy) => {
    const told = problem(...lines);
    expect(told).toContain('no run as OS user "al-agent"');
    expect(told).toContain(remedy);
    expect(told).not.toMatch(/audit plugin|throw err/);
  });

  it("reports that no reason was given", () => {
    expect(problem()).toContain("no reason was given");
  });

  it("as the scheduler's own user is reported without sudo", () => {
    const told = startProblem({ program, runAs: "$USER", env: {} }, ["spawn /opt/node EACCES"]);
    expect(told).toBe("the run's process cannot be started: spawn /opt/node EACCES");
  });
});

describe("a supervisor that is killed between making its working directory and its first record", () => {
  it("leaves nothing of its run", async () => {
    const baseDir = mkdtempSync(join(tmpdir(), "al-runs-"));
    onTestFinished(() => rmSync(baseDir, { recursive: true, force: true }));
    const request = aRequest("echo hi");
    const { file, args } = supervisorProgram("dev");
    const workDir = join(baseDir, request.instanceId);
    // Orders to end a run reach the real supervisor.
    const script = `mkdir "${workDir}" && kill -9 $$; exec "$0" "$@"`;
    const runAgent = () => ({ file: "/bin/sh", args: ["-c", script, file, ...args] });
    const runner = aRunner(baseDir, { runAgent });
    const exit = await lastValueFrom(runner.run(request, NEVER));
    expect(exit).toMatchObject({
      type: "exit",
      exit: { rejected: expect.stringContaining("cannot be started") as string },
    });
    expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
  });
});
