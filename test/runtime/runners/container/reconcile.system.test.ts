import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { lastValueFrom, NEVER, Subject, tap, toArray } from "rxjs";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { createReconciler } from "../../../../src/runtime/runners/container/reconcile.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, until } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { end, forever, log } from "../shell-runs.ts";
import { aProject, aRequest, aRunner, containersOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a run whose scheduler was killed", () => {
  const projectDir = aProject();
  const reconciler = createReconciler(engine, projectDir);
  let scheduler: ChildProcess | undefined;
  afterEach(async () => {
    scheduler?.kill("SIGKILL");
    await reconciler.reap(() => new Set());
  });

  /** Starts a run in a process, and kills that once the run said `ready`. */
  async function crashed(script: string): Promise<{ instanceId: string; recorded: LogEntry[] }> {
    const entry = fileURLToPath(new URL("./crashing-scheduler.ts", import.meta.url));
    scheduler = spawn(process.execPath, [entry, projectDir, script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let instanceId = "";
    const recorded: LogEntry[] = [];
    for await (const line of createInterface({ input: scheduler.stdout ?? process.stdin })) {
      const event = JSON.parse(line) as RunnerEvent | { instanceId: string };
      if ("instanceId" in event) ({ instanceId } = event);
      else if (event.type === "output") recorded.push(event.entry);
      if (recorded.at(-1)?.msg === "ready") break;
    }
    scheduler.kill("SIGKILL");
    await once(scheduler, "exit");
    return { instanceId, recorded };
  }

  async function theFound(): Promise<string> {
    const [found, ...others] = await reconciler.find();
    expect(others).toEqual([]);
    if (found === undefined) throw new Error("nothing was found");
    return found;
  }

  function resumed(instanceId: string, last: LogEntry | null, stop$ = new Subject<StopReason>()) {
    const request = { ...aRequest(""), instanceId };
    const run$ = aRunner(engine, { projectDir }).resume({ request, last }, stop$);
    return { run$, stop$ };
  }

  test("is found alive and followed, without loss or repeat", async () => {
    const script = `read -r job; ${log("one")}; ${log("ready")}; sleep 1; ${log("two")}; ${end()}`;
    const { instanceId, recorded } = await crashed(script);
    const found = await theFound();
    expect(found).toBe(instanceId);
    const events = await lastValueFrom(
      resumed(found, recorded.at(-1) ?? null).run$.pipe(toArray()),
    );
    expect([...recorded.map(({ msg }) => msg), ...messagesOf(events)]).toEqual([
      "one",
      "ready",
      "two",
    ]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null, usage: { tokens: 7 } });
    expect(await containersOf(engine, instanceId)).toEqual([]);
  });

  test("does not see the end of its input when the scheduler dies", async () => {
    const script = `read -r job; exec 3<&0; (read -r more <&3; echo ended) & ${log("ready")}; sleep 1; ${end()}`;
    await crashed(script);
    const events = await lastValueFrom(resumed(await theFound(), null).run$.pipe(toArray()));
    expect(messagesOf(events)).toEqual(["ready"]);
  });

  test("is reported to its end even if it ended before the next scheduler", async () => {
    const before = Date.now();
    const { instanceId, recorded } = await crashed(
      `${log("ready")}; echo raw; ${log("late")}; exit 7`,
    );
    await until(async () => {
      const [id = ""] = await containersOf(engine, instanceId);
      return !(await engine.calls().getContainer(id).inspect()).State.Running;
    });
    const found = await theFound();
    const resumedAt = Date.now();
    const run$ = resumed(found, recorded.at(-1) ?? null).run$;
    const events = await lastValueFrom(run$.pipe(toArray()));
    expect(messagesOf(events)).toEqual(["raw", "late"]);
    const exit = exitOf(events);
    expect(exit).toMatchObject({ exitCode: 7, outOfMemory: false });
    expect(exit.endedAt).toBeGreaterThan(before - 1000);
    expect(exit.endedAt).toBeLessThanOrEqual(resumedAt);
  });

  test("can be stopped", async () => {
    await crashed(`trap '' TERM; ${log("ready")}; ${forever}`);
    const { run$, stop$ } = resumed(await theFound(), null);
    const events = await lastValueFrom(
      run$.pipe(
        tap((event) => {
          if (event.type === "output") stop$.next("timed_out");
        }),
        toArray(),
      ),
    );
    expect(exitOf(events).exitCode).toBe(137);
  });

  test("is not adopted without any output, and is removed", async () => {
    const request = aRequest(forever);
    const run = aRunner(engine, { projectDir }).run(request, NEVER).subscribe();
    await until(async () => (await containersOf(engine, request.instanceId)).length > 0);
    expect(await reconciler.find()).toEqual([]);
    expect(await reconciler.reap(() => new Set([request.instanceId]))).toEqual([]);
    expect(await reconciler.reap(() => new Set())).toEqual([request.instanceId]);
    expect(await containersOf(engine, request.instanceId)).toEqual([]);
    run.unsubscribe();
  });

  test("is adopted with the config that it was started with, and only then not removed", async () => {
    const { instanceId } = await crashed(`${log("ready")}; ${forever}`);
    const request = { ...aRequest("as it was started"), instanceId };
    const records = memoryRecords(request, aRequest("removed by somebody"));
    const runner = aRunner(engine, { projectDir, records });
    expect(await runner.adopt(["dev-other"])).toEqual([]);
    expect(await runner.adopt([instanceId])).toEqual([{ instanceId, agent: request.agent }]);
    await runner.reap();
    expect(await containersOf(engine, instanceId)).toHaveLength(1);
    expect(await records.list()).toEqual([instanceId]);

    const next = aRunner(engine, { projectDir, records: memoryRecords() });
    expect(await next.adopt([instanceId])).toEqual([]);
    await next.reap();
    expect(await containersOf(engine, instanceId)).toEqual([]);
  });

  test("is not searched without an engine and a record", async () => {
    const nowhere = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere.sock" } });
    const runner = aRunner(nowhere, { projectDir });
    expect(await runner.adopt(["dev-1"])).toEqual([]);
    await expect(runner.reap()).rejects.toThrow("no container engine answers");
  });

  test("is invisible to other projects, which find and remove nothing", async () => {
    const { instanceId } = await crashed(`${log("ready")}; ${forever}`);
    const other = createReconciler(engine, aProject());
    expect(await other.find()).toEqual([]);
    expect(await other.reap(() => new Set())).toEqual([]);
    expect(await containersOf(engine, instanceId)).toHaveLength(1);
  });
});
