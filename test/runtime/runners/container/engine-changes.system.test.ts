import { join } from "node:path";
import { engineChanges } from "../../../../src/runtime/runners/container/engine-changes.ts";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { testBase, testEngine, testImage } from "../../../helpers/docker.ts";
import { engineProxy } from "../../../helpers/engine-proxy.ts";
import { pause } from "../../../helpers/pause.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const { engine: machine, missing } = await testEngine();

describe.skipIf(missing !== null)("watching a container engine", () => {
  const proxy = perTest(
    async () => {
      const made = engineProxy(join(tempDir(), "engine.sock"), machine.address());
      await made.open();
      return made;
    },
    (made) => made.close(),
  );
  const changes = () => engineChanges(connectEngine({ env: { DOCKER_HOST: proxy().host } }));
  const connections = (count: number) => expect.poll(() => proxy().connections()).toBe(count);

  test("reports that an image or an image's name is removed", async () => {
    const told: string[] = [];
    const listening = changes().subscribe((change) => told.push(change));
    await connections(1);
    const name = testImage("removed");
    const [repo = "", tag = ""] = name.split(":");
    const removed = async () => {
      await machine.calls().getImage(testBase).tag({ repo, tag });
      await machine.calls().getImage(name).remove();
      return told;
    };
    // The engine may take the connection a moment before it listens to itself.
    await expect.poll(removed).toContain("image-removed");
    listening.unsubscribe();
  });

  test("reports a lost engine to all subscribers, which share one connection", async () => {
    const told: string[] = [];
    const loss$ = changes();
    for (const who of ["a", "b"]) loss$.subscribe({ complete: () => told.push(who) });
    // The first connection, and the one that is made anew.
    for (let time = 0; time < 2; time += 1) {
      await connections(1);
      proxy().cut();
    }
    await pause(300, "no loss must be reported");
    expect(told).toEqual([]);
    await proxy().close();
    await expect.poll(() => told).toHaveLength(2);
  });

  test("reports a missing engine at once", async () => {
    await proxy().close();
    await changes().forEach(() => undefined);
  });

  test("closes its connection without subscribers", async () => {
    const listening = changes().subscribe();
    await connections(1);
    listening.unsubscribe();
    await connections(0);
  });
});
