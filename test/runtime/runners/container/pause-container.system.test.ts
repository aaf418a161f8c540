import type { StopReason } from "../../../../streams/outcomes.ts";
import { NEVER, Subject } from "rxjs";
import { containerName } from "../../../../src/runtime/runners/container/labels.ts";
import {
  pauseContainer,
  unpauseContainer,
} from "../../../../src/runtime/runners/container/stop-container.ts";
import { collected, exitOf, messagesOf, whenReady } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { aRequest, end, forever, log } from "../shell-runs.ts";
import { aProject, aRunner, containersOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();

/** A run whose container is paused once it said `ready`. */
async function paused(script: string) {
  const projectDir = aProject();
  const request = aRequest(`read -r job; ${log("ready")}; ${script}`);
  const name = containerName(projectDir, request.instanceId);
  const stop$ = new Subject<StopReason>();
  const ready = Promise.withResolvers<undefined>();
  const options = { projectDir, records: memoryRecords(request) };
  const run$ = aRunner(engine, options).run(request, stop$);
  const ended = collected(run$.pipe(whenReady(() => ready.resolve(undefined))));
  await ready.promise;
  await pauseContainer(engine, name);
  const { State } = await engine.calls().getContainer(name).inspect();
  expect(State.Paused).toBe(true);
  const next = aRunner(engine, options);
  return {
    name,
    stop$,
    ended,
    adopt: () => next.adopt([request.instanceId]),
    resume: () => next.resume({ request, last: null }, NEVER),
    containers: () => containersOf(engine, request.instanceId),
  };
}
const continued = `sleep 1; ${log("on")}; ${end()}`;

describe.skipIf(missing !== null)("a run whose container is paused", () => {
  test("makes no progress until it is unpaused, and then continues", async () => {
    const run = await paused(continued);
    await pauseContainer(engine, run.name);
    await unpauseContainer(engine, run.name);
    await unpauseContainer(engine, run.name);
    const events = await run.ended;
    expect(messagesOf(events)).toEqual(["ready", "on"]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    await unpauseContainer(engine, run.name);
  });

  test("can be stopped, and leaves nothing behind", async () => {
    const run = await paused(forever);
    run.stop$.next("killed");
    expect(exitOf(await run.ended).exitCode).not.toBe(0);
    expect(await run.containers()).toEqual([]);
  });

  test("can be unsubscribed at once, and leaves nothing behind", async () => {
    const run = await paused(forever);
    await run.adopt();
    run.resume().subscribe().unsubscribe();
    await expect.poll(run.containers).toEqual([]);
    await run.ended;
  });
});
