import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, NEVER, Subject, tap, toArray } from "rxjs";
import type { Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import {
  agentLabel,
  containerName,
  instanceLabel,
  projectId,
  projectLabel,
} from "../../../../src/runtime/runners/container/labels.ts";
import type { StopReason } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf, until } from "../../../foundation/contracts/runner.ts";
import { testBase, testEngine } from "../../../helpers/docker.ts";
import { engineProxy } from "../../../helpers/engine-proxy.ts";
import type { EngineProxy } from "../../../helpers/engine-proxy.ts";
import { end, log } from "../shell-runs.ts";
import { aProject, aRequest, aRunner, containersOf, memoryRecords } from "./support.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("a run whose engine is away when the scheduler starts", () => {
  const projectDir = aProject();
  let folder: string;
  let proxy: EngineProxy;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "al-away-"));
    proxy = engineProxy(join(folder, "engine.sock"), machine.address());
  });
  afterEach(async () => {
    await proxy.close();
    await rm(folder, { recursive: true });
  });

  /** The container of an earlier scheduler's run, as it was started. */
  async function left(script: string) {
    const request = aRequest("as it was started");
    const { instanceId } = request;
    const project = { [projectLabel]: projectId(projectDir) };
    const container = await machine.calls().createContainer({
      name: containerName(projectDir, instanceId),
      Image: testBase,
      Cmd: ["/bin/sh", "-c", script],
      Labels: { ...project, [agentLabel]: "dev", [instanceLabel]: instanceId },
    });
    await container.start();
    return request;
  }

  /** Finds the run while the engine is away, and goes on with it. */
  async function resumed(request = aRequest("gone"), stop$: Observable<StopReason> = NEVER) {
    const engine = connectEngine({ env: { DOCKER_HOST: proxy.host } });
    const records = memoryRecords(request);
    const runner = aRunner(engine, { projectDir, records });
    const { instanceId, agent } = request;
    const found = await runner.adopt([instanceId, "dev-without-record"]);
    expect(found).toEqual([{ instanceId, agent, sure: false }]);
    let isOver = false;
    const run$ = runner.resume({ request, last: null }, stop$).pipe(
      toArray(),
      tap(() => (isOver = true)),
    );
    return { events: lastValueFrom(run$), isOver: () => isOver, records };
  }

  it("is gone on with when it is there once the engine is back", async () => {
    const request = await left(`${log("ready")}; sleep 1; ${log("late")}; ${end()}`);
    const { events, isOver } = await resumed(request);
    const container = machine.calls().getContainer(containerName(projectDir, request.instanceId));
    await until(async () => !(await container.inspect()).State.Running);
    expect(isOver()).toBe(false);
    await proxy.open();
    expect(messagesOf(await events)).toEqual(["ready", "late"]);
    expect(exitOf(await events)).toMatchObject({ exitCode: 0, error: null });
    expect(await containersOf(machine, request.instanceId)).toEqual([]);
  });

  it("is lost when the engine has it no more, and leaves nothing", async () => {
    const { events, records } = await resumed();
    await proxy.open();
    expect(exitOf(await events)).toMatchObject({
      lost: true,
      error: expect.stringContaining("was gone when it came back") as string,
    });
    expect(await records.list()).toEqual([]);
  });

  it("is lost when it never said anything: nobody can tell whether its job reached it", async () => {
    const request = await left("sleep 60");
    const { events } = await resumed(request);
    await proxy.open();
    expect(exitOf(await events)).toMatchObject({ lost: true });
    expect(await containersOf(machine, request.instanceId)).toEqual([]);
  });

  it("ends when it is stopped before the engine is back", async () => {
    const stop$ = new Subject<StopReason>();
    const { events, records } = await resumed(aRequest("gone"), stop$);
    stop$.next("timed_out");
    expect(exitOf(await events)).toMatchObject({ lost: true });
    // So that the container, if there is one, is looked for when the engine is back.
    expect(await records.list()).toHaveLength(1);
  });
});
