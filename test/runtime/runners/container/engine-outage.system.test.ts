import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lastValueFrom, NEVER, Subject, tap, toArray, type Observable } from "rxjs";
import { connectEngine, type Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { containerName, instanceLabel } from "../../../../src/runtime/runners/container/labels.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, until } from "../contract.ts";
import { ensureBase, testBase, testEngine } from "../../../helpers/docker.ts";
import { engineProxy, type EngineProxy } from "../../../helpers/engine-proxy.ts";
import { isLong } from "../../../helpers/long.ts";
import { hasOwnEngine, ownEngine } from "../../../helpers/own-engine.ts";
import { end, forever, log } from "../shell-runs.ts";
import { aProject, aRequest, aRunner, containersOf, memoryRecords } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const { engine: machine, missing } = await testEngine();
const projectDir = aProject();
const containerOf = ({ instanceId }: RunRequest) =>
  machine.calls().getContainer(containerName(projectDir, instanceId));
const folder = perTest(tempDir);

/** Runs a script, and breaks its engine once it logged `ready`. */
async function broken(
  engine: Engine,
  request: RunRequest,
  onReady: () => Promise<void>,
  engineGraceMs = 30_000,
): Promise<RunnerEvent[]> {
  const outage = Promise.withResolvers<undefined>();
  const run$ = aRunner(engine, { projectDir, engineGraceMs })
    .run(request, NEVER)
    .pipe(
      tap((event) => {
        if (!messagesOf([event]).includes("ready")) return;
        onReady().then(() => outage.resolve(undefined), outage.reject);
      }),
      toArray(),
    );
  const [events] = await Promise.all([lastValueFrom(run$), outage.promise]);
  return events;
}

describe.skipIf(missing !== null)("an engine that goes away", () => {
  let proxy: EngineProxy;
  let engine: Engine;
  beforeEach(() => {
    proxy = engineProxy(join(folder(), "engine.sock"), machine.address());
    engine = connectEngine({ env: { DOCKER_HOST: proxy.host } });
  });
  afterEach(() => proxy.close());

  test("loses and repeats no output of a run whose container lives on", async () => {
    await proxy.open();
    const request = aRequest(
      `${log("one")}; ${log("ready")}; sleep 0.5; ${log("meanwhile")}; sleep 2; ${log("after")}; ${end()}`,
    );
    const events = await broken(engine, request, async () => {
      await proxy.close();
      await wait(1000);
      await proxy.open();
    });
    expect(messagesOf(events)).toEqual(["one", "ready", "meanwhile", "after"]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    expect(await containersOf(machine, request.instanceId)).toEqual([]);
  });

  test.each([
    [true, /the engine went away .* ended with it/],
    [false, /the engine went away .* did not come back/],
  ])("makes a run lost that ended with it; it returns: %s", async (isBack, reason) => {
    await proxy.open();
    const request = aRequest(`${log("ready")}; ${forever}`);
    const grace = isBack ? 30_000 : 500;
    const events = await broken(
      engine,
      request,
      async () => {
        await proxy.close();
        await containerOf(request).kill({ signal: "SIGKILL" });
        if (isBack) await proxy.open();
      },
      grace,
    );
    expect(exitOf(events)).toMatchObject({ lost: true, exitCode: null, rejected: null });
    expect(exitOf(events).error).toMatch(reason);
    if (isBack) expect(await containersOf(machine, request.instanceId)).toEqual([]);
    else await containerOf(request).remove();
  });

  test("lets no run start, with a hint", async () => {
    const images = { prepare: () => NEVER, imageFor: () => engine.version() };
    const run$ = aRunner(engine, { images }).run(aRequest(""), NEVER);
    const { rejected } = exitOf(await lastValueFrom(run$.pipe(toArray())));
    expect(rejected).toMatch(/no container engine answers at unix:.*host-user/);
  });

  /** Finds a run while the engine is away, and resumes it. */
  async function resumed(request: RunRequest, stop$: Observable<StopReason> = NEVER) {
    const records = memoryRecords(request);
    const runner = aRunner(engine, { projectDir, records });
    const { instanceId, agent } = request;
    expect(await runner.adopt([instanceId, "dev-without-record"])).toEqual([{ instanceId, agent }]);
    const run$ = runner.resume({ request, last: null }, stop$).pipe(toArray());
    return { events: lastValueFrom(run$), records };
  }

  /** A run that an earlier scheduler left on the engine. */
  async function left(script: string): Promise<RunRequest> {
    const request = aRequest(script);
    const { instanceId } = request;
    const container = await machine.calls().createContainer({
      name: containerName(projectDir, instanceId),
      Image: testBase,
      Cmd: ["/bin/sh", "-c", script],
      Labels: { [instanceLabel]: instanceId },
    });
    await container.start();
    return request;
  }

  test("is awaited by a run of an earlier scheduler, which is then followed to its end", async () => {
    const request = await left(`${log("ready")}; sleep 1; ${log("late")}; ${end()}`);
    const { events } = await resumed(request);
    await until(async () => !(await containerOf(request).inspect()).State.Running);
    await proxy.open();
    expect(messagesOf(await events)).toEqual(["ready", "late"]);
    expect(exitOf(await events)).toMatchObject({ exitCode: 0, error: null });
    expect(await containersOf(machine, request.instanceId)).toEqual([]);
  });

  test("makes a run of an earlier scheduler lost if its container is gone", async () => {
    const { events, records } = await resumed(aRequest("gone"));
    await proxy.open();
    expect(exitOf(await events)).toMatchObject({
      lost: true,
      error: expect.stringContaining("was gone, or without any output, when") as string,
    });
    expect(await records.list()).toEqual([]);
  });

  test("is not awaited by a run that is stopped; its container is removed later", async () => {
    const stop$ = new Subject<StopReason>();
    const { events, records } = await resumed(aRequest("gone"), stop$);
    stop$.next("timed_out");
    expect(exitOf(await events)).toMatchObject({ lost: true });
    expect(await records.list()).toHaveLength(1);
  });
});

describe.runIf(isLong && missing === null && hasOwnEngine)("an engine that is stopped", () => {
  const own = perTest(() => ownEngine(folder()));
  afterEach(() => own().remove(), 60_000);

  test("makes the runs lost that it ends", async () => {
    const { engine } = own();
    await own().start();
    await ensureBase(engine);
    const request = aRequest(`trap 'exit 143' TERM; ${log("ready")}; ${forever}`);
    const events = await broken(engine, request, async () => {
      await own().stop();
      await own().start();
    });
    expect(exitOf(events)).toMatchObject({ lost: true, exitCode: null, rejected: null });
    expect(exitOf(events).error).toMatch(/the engine went away .* ended with it/);
    expect(await containersOf(engine, request.instanceId)).toEqual([]);
  }, 120_000);
});
