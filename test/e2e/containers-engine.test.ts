import { containersOfProject, sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { engineProxy, type EngineProxy } from "../helpers/engine-proxy.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000 };
const timeout = 150_000;
let project: LiveProject;
let proxy: EngineProxy;

/** A project whose engine is behind a proxy that is not open yet. */
async function behindProxy(sleepSeconds: number): Promise<void> {
  project = await sleepingProject(engine, { sleepSeconds });
  proxy = engineProxy(project.path("../engine.sock"), engine.address());
}
const start = () => project.start({ env: { DOCKER_HOST: proxy.host } });
const boxed = () => expect.poll(() => project.agent("boxed"), patience);
const said = () => project.messages("boxed", "said");
const runs = () => expect.poll(() => project.history("kind=manual"), patience);
const succeeded = (count: number) =>
  runs().toMatchObject(Array.from({ length: count }, () => ({ outcome: "succeeded", attempt: 1 })));

beforeAll(async () => void (missing === null && (await defaultTestImage(engine))), engineSetupMs);

describe.skipIf(missing !== null)("a container engine", { timeout }, () => {
  forAll(async () => {
    await behindProxy(3);
    await start();
  });
  afterAll(() => proxy.close());

  test("that is missing at the start is shown with the reason, and work waits for it", async () => {
    const reason = `no container engine answers at ${proxy.host}`;
    const error = expect.stringContaining(reason) as string;
    await boxed().toMatchObject({ state: "blocked", error });
    expect((await fetch(`${project.scheduler.url}/health`)).status).toBe(200);
    expect(await project.trigger("boxed")).toEqual([202]);
    await boxed().toMatchObject({ queued: 1, running: 0, state: "blocked" });
    await proxy.open();
    await succeeded(1);
    expect(await project.agent("boxed")).toMatchObject({ state: "idle", error: null, queued: 0 });
  });

  test("that stops while nothing runs is noticed at once, and work waits for it", async () => {
    await proxy.close();
    await boxed().toMatchObject({ state: "blocked", running: 0 });
    expect(await project.trigger("boxed")).toEqual([202]);
    await boxed().toMatchObject({ queued: 1 });
    expect(await project.history("kind=manual")).toHaveLength(2);
    await proxy.open();
    await succeeded(2);
    expect(await project.agent("boxed")).toMatchObject({ state: "idle", error: null });
  });

  test("that stops during a run is followed again when it is back, and the run succeeds once", async () => {
    expect(await project.trigger("boxed")).toEqual([202]);
    await boxed().toMatchObject({ running: 1 });
    await expect.poll(() => project.messages("boxed", "tool"), patience).toHaveLength(3);
    await proxy.close();
    const error = expect.stringContaining("no container engine") as string;
    await boxed().toMatchObject({ running: 1, error });
    await proxy.open();
    await succeeded(3);
    await boxed().toMatchObject({ state: "idle", error: null });
    expect(await said()).toEqual(["before", "after", "before", "after", "before", "after"]);
  });
});

describe.skipIf(missing !== null)(
  "a scheduler that restarts while the engine of its runs is unreachable",
  () => {
    /** Kills the scheduler of a run whose tool sleeps, and starts it again without its engine. */
    async function startedWithout(sleepSeconds: number): Promise<void> {
      await behindProxy(sleepSeconds);
      onTestFinished(() => proxy.close());
      await proxy.open();
      await start();
      await project.trigger("boxed");
      await expect.poll(() => project.messages("boxed", "tool"), patience).toHaveLength(1);
      await project.scheduler.kill();
      await proxy.close();
      await start();
      await boxed().toMatchObject({ running: 1 });
      await runs().toMatchObject([{ outcome: null, attempt: 1 }]);
    }

    test("resumes a live run once the engine is back", { timeout }, async () => {
      await startedWithout(4);
      await proxy.open();
      await succeeded(1);
      expect(await said()).toEqual(["before", "after"]);
    });

    test("retries a run that is gone once the engine reports that", { timeout }, async () => {
      await startedWithout(1);
      for (const id of await containersOfProject(engine, project.dir)) {
        await engine.calls().getContainer(id).remove({ force: true });
      }
      await proxy.open();
      await runs().toMatchObject([
        { outcome: "succeeded", attempt: 2 },
        { outcome: "lost", attempt: 1 },
      ]);
    });
  },
);
