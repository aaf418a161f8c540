import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { logPathOf, readRunRecord } from "../../../../src/runtime/runners/host-user/run-files.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, runnerContract, until } from "../../../foundation/contracts/runner.ts";
import { end, jobOf } from "../shell-runs.ts";
import { aRequest, supervisorProgram, leftovers, projectDir } from "./support.ts";
import { aWarmRunner, patience, warmRunner } from "./warm-support.ts";
import type { WarmRunner } from "./warm-support.ts";

const entry = join(import.meta.dirname, "warm-scheduler-entry.ts");
const own = [{ user: "$USER", network: "open" }] as const;
/** Says when its process was started, in the kernel's count. */
const started = `sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20`;

let root: string;
let baseDir: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "al-warm-test-"));
  baseDir = join(root, "runs");
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** All that it started goes with the test. */
function kept(runner: WarmRunner): WarmRunner {
  onTestFinished(async () => {
    runner.runner.prewarm([], 0);
    await until(async () => (await runner.processes()).length === 0, patience);
  });
  return runner;
}

const eventsOf = ({ runner }: WarmRunner, request: RunRequest) =>
  lastValueFrom(runner.run(request, NEVER).pipe(toArray()));

runnerContract("the host-user runner with a process started ahead", async () => {
  const warm = aWarmRunner(baseDir);
  warm.runner.prewarm(own, 1);
  await warm.untilWaiting(1);
  return {
    runner: warm.runner,
    request: (scenario) => aRequest(scenario),
    leftovers: (id) => leftovers(baseDir, id),
    dispose: async () => {
      warm.runner.prewarm([], 0);
      await until(async () => (await warm.processes()).length === 0, patience);
    },
  };
});

describe("a run that finds a process started ahead", () => {
  it("is that process, and another one is started for the next run", async () => {
    const warm = kept(aWarmRunner(baseDir));
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    const [first] = [...(await warm.waiting()).values()];
    expect(messagesOf(await eventsOf(warm, aRequest(`${started}; ${end()}`)))).toEqual([first]);
    await warm.untilWaiting(1);
    const [second] = [...(await warm.waiting()).values()];
    expect(second).not.toBe(first);
    expect(messagesOf(await eventsOf(warm, aRequest(`${started}; ${end()}`)))).toEqual([second]);
  });

  it("has its own folder and variables, and nothing of what waited or of an earlier run", async () => {
    const prepare = (request: RunRequest, workDir: string) =>
      Promise.resolve({
        ...jobOf(request, workDir),
        params: { secret: `s3cret of ${request.instanceId}` },
      });
    const warm = kept(aWarmRunner(baseDir, { prepare }));
    warm.runner.prewarm(own, 1);
    const first = aRequest(`echo > mark; export LEFT=over; ${end()}`);
    const look = `pwd; ls -A; env; echo all:; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ${end()}`;
    const second = aRequest(look, { timezone: "Asia/Tokyo" });
    for (const request of [first, second]) {
      await warm.untilWaiting(1);
      const said = messagesOf(await eventsOf(warm, request));
      if (request === first) continue;
      const workDir = join(baseDir, second.instanceId);
      expect(said.slice(0, 2)).toEqual([workDir, ".tmp"]);
      expect(said).toEqual(
        expect.arrayContaining([
          ...[`HOME=${workDir}`, `TMPDIR=${join(workDir, ".tmp")}`, "TZ=Asia/Tokyo"],
          `AL_INSTANCE=${second.instanceId}`,
        ]),
      );
      const variables = said.slice(2, said.indexOf("all:"));
      expect(variables.join("\n")).not.toMatch(/LEFT=|AL_WARM|nonexistent|warm:|VITEST/);
      expect(said.join("\n")).not.toMatch(/s3cret of|LEFT=over/);
      expect(said.join("\n")).not.toContain(first.instanceId);
    }
  });

  it("leaves it to the runs that gain by it", async () => {
    const warm = kept(aWarmRunner(baseDir));
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    const [waiting] = [...(await warm.waiting()).values()];
    const harness = { type: "llm-cli", command: "claude" } as const;
    const events = await eventsOf(warm, aRequest(`${started}; ${end()}`, { harness }));
    expect(messagesOf(events)).not.toEqual([waiting]);
    expect([...(await warm.waiting()).values()]).toEqual([waiting]);
  });

  it("runs all the same when that was killed, or its supervisor, at that moment", async () => {
    const warm = kept(aWarmRunner(baseDir));
    warm.runner.prewarm(own, 1);
    for (const victim of ["process", "supervisor"] as const) {
      await warm.untilWaiting(1);
      const [waiting = 0] = (await warm.waiting()).keys();
      const all = (await warm.processes()).toSorted((a, b) => a - b);
      process.kill(victim === "process" ? waiting : (all[0] ?? 0), "SIGKILL");
      const exit = exitOf(await eventsOf(warm, aRequest(end())));
      expect(exit).toMatchObject({ exitCode: 0, error: null, rejected: null });
    }
  });

  it("is not of a program that was replaced meanwhile", async () => {
    const program = join(root, "al.ts");
    await writeFile(program, `import ${JSON.stringify(supervisorProgram("x").args[0])};`);
    const runAgent = (agent: string) => {
      const { file, args } = supervisorProgram(agent);
      return { file, args: [program, ...args.slice(1)] };
    };
    const warm = kept(aWarmRunner(baseDir, { runAgent }));
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    const [waiting] = [...(await warm.waiting()).values()];
    await utimes(program, new Date(), new Date(Date.now() + 5000));
    const events = await eventsOf(warm, aRequest(`${started}; ${end()}`));
    expect(messagesOf(events)).not.toEqual([waiting]);
  });

  it("is found and ended by the next scheduler, whose only hold on it is what it was started as", async () => {
    const warm = kept(aWarmRunner(baseDir));
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    const request = aRequest("stays");
    const run = warm.runner.run(request, NEVER).subscribe();
    const path = logPathOf(baseDir, request.instanceId);
    const said = () => readFile(path, "utf8").catch(() => "");
    await until(async () => (await said()).includes(" out stays"), patience);
    warm.runner.prewarm([], 0);
    const record = await readRunRecord(path);
    expect(record).toMatchObject({
      mark: expect.stringMatching(/^warm:/) as string,
      project: projectDir,
    });
    expect(await warm.runner.adopt([request.instanceId])).toEqual([
      { instanceId: request.instanceId, agent: request.agent },
    ]);
    process.kill(record?.process.pid ?? 0, "SIGKILL");
    await until(async () => (await warm.runner.adopt([request.instanceId])).length === 0, patience);
    await until(async () => (await warm.processes()).length === 0, patience);
    expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
    run.unsubscribe();
  });
});

describe("processes started ahead", () => {
  it("are as many as is wanted, at once when that changes, and none at 0", async () => {
    const warm = kept(aWarmRunner(baseDir));
    await eventsOf(warm, aRequest(end()));
    expect(await warm.processes()).toEqual([]);
    for (const wanted of [2, 1, 3, 0]) {
      warm.runner.prewarm(own, wanted);
      await warm.untilWaiting(wanted);
    }
    await until(async () => (await warm.processes()).length === 0, patience);
    expect((await readdir(baseDir)).filter((name) => name.startsWith(".warm"))).toEqual([]);
  });

  it("are replaced when one ends by itself", async () => {
    const warm = kept(aWarmRunner(baseDir));
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    const [first = 0] = (await warm.waiting()).keys();
    process.kill(first, "SIGKILL");
    await until(async () => {
      const [now] = (await warm.waiting()).keys();
      return now !== undefined && now !== first;
    }, patience);
  });

  it("end with a scheduler that is killed, whose next one removes what it left", async () => {
    const language = `x-killed-${process.pid}`;
    const warm = kept(warmRunner(language, baseDir));
    const args = [entry, baseDir, language];
    const scheduler = spawn(process.execPath, args, { stdio: "inherit", env: process.env });
    await warm.untilWaiting(1);
    expect(await readdir(baseDir)).toEqual([expect.stringContaining(`.warm-${scheduler.pid}`)]);
    scheduler.kill("SIGKILL");
    await until(async () => (await warm.processes()).length === 0, patience);
    warm.runner.prewarm(own, 1);
    await warm.untilWaiting(1);
    expect(await readdir(baseDir)).toEqual([expect.stringContaining(`.warm-${process.pid}`)]);
  });
});
