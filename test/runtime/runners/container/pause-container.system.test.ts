import { lastValueFrom, NEVER, Subject, tap, toArray } from "rxjs";
import { containerName } from "../../../../src/runtime/runners/container/labels.ts";
import {
  pauseContainer,
  unpauseContainer,
} from "../../../../src/runtime/runners/container/stop-container.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf, until } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { end, forever, log } from "../shell-runs.ts";
import { aProject, aRequest, aRunner, containersOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();

/** A run whose container is paused once it said `ready`. */
async function paused(script: string) {
  const projectDir = aProject();
  const request = aRequest(`read -r job; ${log("ready")}; ${script}`);
  const name = containerName(projectDir, request.instanceId);
  const stop$ = new Subject<StopReason>();
  const seen: RunnerEvent[] = [];
  const options = { projectDir, records: memoryRecords(request) };
  const run$ = aRunner(engine, options).run(request, stop$);
  const ended = lastValueFrom(
    run$.pipe(
      tap((event) => seen.push(event)),
      toArray(),
    ),
  );
  await until(() => Promise.resolve(messagesOf(seen).includes("ready")));
  await pauseContainer(engine, name);
  const { State } = await engine.calls().getContainer(name).inspect();
  expect(State.Paused).toBe(true);
  return { request, name, stop$, ended, options };
}

describe.skipIf(missing !== null)("a run whose container is paused", () => {
  test("does nothing until it is unpaused, and then continues", async () => {
    const run = await paused(`sleep 0.2; ${log("on")}; ${end()}`);
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
    expect(await containersOf(engine, run.request.instanceId)).toEqual([]);
  });

  test("can be unsubscribed at once, and leaves nothing behind", async () => {
    const run = await paused(forever);
    const next = aRunner(engine, run.options);
    await next.adopt([run.request.instanceId]);
    next.resume({ request: run.request, last: null }, NEVER).subscribe().unsubscribe();
    await until(async () => (await containersOf(engine, run.request.instanceId)).length === 0);
    await run.ended;
  });

  test("continues under a scheduler that adopts it", async () => {
    const run = await paused(`sleep 0.2; ${log("on")}; ${end()}`);
    const next = aRunner(engine, run.options);
    expect(await next.adopt([run.request.instanceId])).toHaveLength(1);
    const resumed$ = next.resume({ request: run.request, last: null }, NEVER);
    const events = await lastValueFrom(resumed$.pipe(toArray()));
    expect(messagesOf(events)).toEqual(["ready", "on"]);
    await run.ended;
  });
});
