import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { engineChanges } from "../../../../src/runtime/runners/container/engine-changes.ts";
import { connectEngine, type Engine } from "../../../../src/runtime/runners/container/engine.ts";
import { until } from "../contract.ts";
import { testBase, testEngine, testImage } from "../../../helpers/docker.ts";
import { engineProxy, type EngineProxy } from "../../../helpers/engine-proxy.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("changes of an engine", () => {
  let folder: string;
  let proxy: EngineProxy;
  let engine: Engine;
  beforeEach(async () => {
    folder = tempDir();
    proxy = engineProxy(join(folder, "engine.sock"), machine.address());
    engine = connectEngine({ env: { DOCKER_HOST: proxy.host } });
    await proxy.open();
  });
  afterEach(() => proxy.close());

  test("reports that an image or a name of one is removed", async () => {
    const told: string[] = [];
    const listening = engineChanges(engine).subscribe((change) => told.push(change));
    await until(() => Promise.resolve(proxy.connections() === 1));
    const name = testImage("removed");
    const [repo = "", tag = ""] = name.split(":");
    const removed = async () => {
      await machine.calls().getImage(testBase).tag({ repo, tag });
      await machine.calls().getImage(name).remove();
      return told.includes("image-removed");
    };
    // The engine may take the connection a moment before it listens to itself.
    await until(removed);
    listening.unsubscribe();
  });

  test("reports a lost engine to all subscribers, over one connection, and only then", async () => {
    const told: string[] = [];
    const loss$ = engineChanges(engine);
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

  test("reports a missing engine at once", async () => {
    await proxy.close();
    let told = false;
    engineChanges(engine).subscribe({ complete: () => (told = true) });
    await until(() => Promise.resolve(told));
  });

  test("closes its connection without subscribers", async () => {
    const listening = engineChanges(engine).subscribe();
    await until(() => Promise.resolve(proxy.connections() === 1));
    listening.unsubscribe();
    await until(() => Promise.resolve(proxy.connections() === 0));
  });
});
