import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineLoss } from "../../../src/runners/container/engine-loss.ts";
import { connectEngine } from "../../../src/runners/container/engine.ts";
import type { Engine } from "../../../src/runners/container/engine.ts";
import { until } from "../../contracts/runner.ts";
import { testEngine } from "../../helpers/docker.ts";
import { engineProxy } from "../../helpers/engine-proxy.ts";
import type { EngineProxy } from "../../helpers/engine-proxy.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("the loss of an engine", () => {
  let folder: string;
  let proxy: EngineProxy;
  let engine: Engine;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "al-loss-"));
    proxy = engineProxy(join(folder, "engine.sock"), machine.address());
    engine = connectEngine({ env: { DOCKER_HOST: proxy.host } });
    await proxy.open();
  });
  afterEach(async () => {
    await proxy.close();
    await rm(folder, { recursive: true });
  });

  it("is told to all who listen, over one connection, and only when the engine went", async () => {
    const told: string[] = [];
    const loss$ = engineLoss(engine);
    for (const who of ["a", "b"]) loss$.subscribe({ complete: () => told.push(who) });
    // The first connection, and the one that is made anew.
    for (let time = 0; time < 2; time += 1) {
      await until(() => Promise.resolve(proxy.connections() === 1));
      proxy.cut();
    }
    await wait(300);
    expect(told).toEqual([]);
    await proxy.close();
    await until(() => Promise.resolve(told.length === 2));
  });

  it("is told at once of an engine that is not there", async () => {
    await proxy.close();
    let told = false;
    engineLoss(engine).subscribe(() => (told = true));
    await until(() => Promise.resolve(told));
  });

  it("is nobody's business when nobody listens: the connection ends", async () => {
    const listening = engineLoss(engine).subscribe();
    await until(() => Promise.resolve(proxy.connections() === 1));
    listening.unsubscribe();
    await until(() => Promise.resolve(proxy.connections() === 0));
  });
});
