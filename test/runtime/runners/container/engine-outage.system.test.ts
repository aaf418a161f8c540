import type { StopReason } from "../../../../streams/outcomes.ts";
import { join } from "node:path";
import { NEVER, Subject } from "rxjs";
import { connectEngine, type Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { containerName } from "../../../../src/runtime/runners/container/labels.ts";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { collected, exitOf, messagesOf, whenReady } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { engineProxy } from "../../../helpers/engine-proxy.ts";
import { pause } from "../../../helpers/pause.ts";
import { aRequest, end, forever, log } from "../shell-runs.ts";
import { aProject, aRunner, containersOf, memoryRecords } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { like } from "../../../helpers/like.ts";

const { engine: machine, missing } = await testEngine();
const projectDir = aProject();
const containerOf = ({ instanceId }: RunRequest) =>
  machine.calls().getContainer(containerName(projectDir, instanceId));
const folder = perTest(tempDir);
const lost = (error: RegExp) => ({
  lost: true,
  exitCode: null,
  rejected: null,
  error: like(error),
});

/** Runs a script, and breaks its engine once it logged `ready`. */
async function broken(
  engine: Engine,
  request: RunRequest,
  onReady: () => Promise<void>,
  engineGraceMs = 30_000,
): Promise<RunnerEvent[]> {
  let outage = Promise.resolve();
  const run$ = aRunner(engine, { projectDir, engineGraceMs }).run(request, NEVER);
  const events = await collected(run$.pipe(whenReady(() => (outage = onReady()))));
  await outage;
  return events;
}

describe.skipIf(missing !== null)("a container engine that becomes unreachable", () => {
  const proxy = perTest(
    () => engineProxy(join(folder(), "engine.sock"), machine.address()),
    (made) => made.close(),
  );
  const engine = perTest(() => connectEngine({ env: { DOCKER_HOST: proxy().host } }));

  test("loses and repeats no output of a run whose container lives on", async () => {
    await proxy().open();
    const request = aRequest(
      `${log("one")}; ${log("ready")}; sleep 0.5; ${log("meanwhile")}; sleep 2; ${log("after")}; ${end()}`,
    );
    const events = await broken(engine(), request, async () => {
      await proxy().close();
      await pause(1000, "the run logs a line meanwhile");
      await proxy().open();
    });
    expect(messagesOf(events)).toEqual(["one", "ready", "meanwhile", "after"]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    expect(await containersOf(machine, request.instanceId)).toEqual([]);
  });

  test.each([
    ["returns", 30_000, /the engine went down .* ended with it/],
    ["stays away", 500, /the engine went down .* did not come back/],
  ])("and %s makes a run that ended meanwhile count as lost", async (outcome, graceMs, reason) => {
    const isBack = outcome === "returns";
    await proxy().open();
    const request = aRequest(`${log("ready")}; ${forever}`);
    const outage = async () => {
      await proxy().close();
      await containerOf(request).kill({ signal: "SIGKILL" });
      if (isBack) await proxy().open();
    };
    expect(exitOf(await broken(engine(), request, outage, graceMs))).toMatchObject(lost(reason));
    if (isBack) expect(await containersOf(machine, request.instanceId)).toEqual([]);
    else await containerOf(request).remove();
  });

  test("does not delay the stop of an adopted run", async () => {
    const request = aRequest("gone");
    const { instanceId, agent } = request;
    const records = memoryRecords(request);
    const runner = aRunner(engine(), { projectDir, records });
    expect(await runner.adopt([instanceId, "dev-without-record"])).toEqual([{ instanceId, agent }]);
    const stop$ = new Subject<StopReason>();
    const events = collected(runner.resume({ request, last: null }, stop$));
    stop$.next("timed_out");
    expect(exitOf(await events)).toMatchObject({ lost: true });
    expect(await records.list()).toHaveLength(1);
  });
});
