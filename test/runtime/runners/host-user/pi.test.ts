import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, Subject, tap, toArray } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Script } from "../../../../src/foundation/contracts/job.ts";
import { createHostUserRunner } from "../../../../src/runtime/runners/host-user/host-user-runner.ts";
import { runEnd } from "../../../../streams/runs/outcome.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf } from "../../../foundation/contracts/runner.ts";
import { aJob, aScripted } from "../../harness/jobs.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { processesOf } from "../shell-runs.ts";
import { supervisorProgram } from "./support.ts";

describe("a real session in a run as the scheduler's user", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "al-run-pi-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  function events(
    turns: Script["turns"],
    instanceId: string,
    onEvent: (event: RunnerEvent, stop$: Subject<StopReason>) => void = () => undefined,
  ): Promise<RunnerEvent[]> {
    const runner = createHostUserRunner({
      prepare: (request, workDir) =>
        Promise.resolve(aJob(workDir, { instanceId, agent: "dev", models: [aScripted(turns)] })),
      runAgent: supervisorProgram,
      program: () => ({ file: process.execPath, args: [builtAl, "_run-agent"] }),
      projectDir: root,
      baseDir: join(root, "runs"),
      env: process.env,
      network: () => "open",
      compileCache: join(root, "cache"),
      graceMs: 3000,
      onCooldown: () => undefined,
      redactorFor: () => (text) => text.replaceAll("s3cret", "***"),
    });
    const stop$ = new Subject<StopReason>();
    const request = { instanceId, agent: anAgent("dev"), item: anItem("1") };
    return lastValueFrom(
      runner.run(request, stop$).pipe(
        tap((event) => onEvent(event, stop$)),
        toArray(),
      ),
    );
  }

  const bash = (command: string) => ({ name: "bash", arguments: { command } });

  it("is told from what was said to what it used, with secrets taken out, and leaves nothing", async () => {
    const said = { text: "Looking.", tools: [bash("echo s3cret; setsid sleep 300 & echo $HOME")] };
    const all = await events([said, { text: "All done." }], "dev-pi000001");
    const messages = messagesOf(all);
    expect(messages.indexOf("Looking.")).toBeLessThan(messages.indexOf("All done."));
    const text = JSON.stringify(all);
    expect(text).toContain(join(root, "runs", "dev-pi000001"));
    expect(text).toContain("***");
    expect(text).not.toContain("s3cret");
    const exit = exitOf(all);
    expect(exit.usage?.tokens).toBeGreaterThan(0);
    expect(runEnd(exit, null, { agent: { timeoutSeconds: 900 }, item: anItem("1") })).toMatchObject(
      {
        outcome: "succeeded",
        exitCode: 0,
      },
    );
    expect(await readdir(join(root, "runs"))).toEqual(["dev-pi000001.log"]);
    expect(await processesOf("dev-pi000001")).toEqual([]);
  });

  it("ends with its commands soon after it is asked to", async () => {
    const turns = [{ text: "Waiting.", tools: [bash("trap '' TERM; sleep 300 & sleep 300")] }];
    const all = await events(turns, "dev-pi000002", (event, stop$) => {
      if (event.type === "output" && event.entry.kind === "tool") {
        setTimeout(() => stop$.next("timed_out"), 200);
      }
    });
    expect(exitOf(all)).toMatchObject({
      exitCode: 143,
      error: "it was stopped before it was done",
    });
    expect(await processesOf("dev-pi000002")).toEqual([]);
  });

  it("is failed, never succeeded, when its last model failed", async () => {
    const exit = exitOf(await events([{ status: 500, error: "on fire" }], "dev-pi000003"));
    expect(runEnd(exit, null, { agent: { timeoutSeconds: 900 }, item: anItem("1") })).toMatchObject(
      {
        outcome: "failed",
        exitCode: 1,
        reason: `model "scripted": 500 on fire`,
      },
    );
  });
});
