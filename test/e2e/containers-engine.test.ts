import { removeAll, sleepingProject } from "../helpers/container-project.ts";
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

  test("that is missing at the start, or stops while no run is live, is shown with the reason, and work waits", async () => {
    const reason = `no container engine answers at ${proxy.host}`;
    const error = expect.stringContaining(reason) as string;
    for (const count of [1, 2]) {
      await boxed().toMatchObject({ state: "blocked", error, running: 0 });
      expect(await project.trigger("boxed")).toEqual([202]);
      await boxed().toMatchObject({ queued: 1, running: 0, state: "blocked" });
      await proxy.open();
      await succeeded(count);
      await boxed().toMatchObject({ state: "idle", error: null, queued: 0 });
      if (count === 1) await proxy.close();
    }
  });
});

describe.skipIf(missing !== null)(
  "a scheduler restarted after kill -9 while the container engine is unreachable",
  { timeout },
  () => {
    test.each([
      ["resumes a live run", true],
      ["retries a run that is gone", false],
    ])("%s once the engine is back", async (_, isLive) => {
      await behindProxy(isLive ? 4 : 1);
      onTestFinished(() => proxy.close());
      await proxy.open();
      await start();
      await project.trigger("boxed");
      await expect.poll(() => project.messages("boxed", "tool"), patience).toHaveLength(1);
      await project.scheduler.kill();
      await proxy.close();
      await start();
      await runs().toMatchObject([{ outcome: null, attempt: 1 }]);
      if (!isLive) await removeAll(engine, project.dir);
      await proxy.open();
      if (isLive) {
        await succeeded(1);
        expect(await said()).toEqual(["before", "after"]);
      } else {
        const [lost, again] = [{ outcome: "lost" }, { outcome: "succeeded", attempt: 2 }];
        await runs().toMatchObject([again, lost]);
      }
    });
  },
);
