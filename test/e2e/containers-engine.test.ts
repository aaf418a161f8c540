import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { engineProxy } from "../helpers/engine-proxy.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000 };
beforeAll(async () => void (missing === null && (await defaultTestImage(engine))), engineSetupMs);

test.skipIf(missing !== null)(
  "a scheduler restarted after kill -9 while the container engine is unreachable resumes a live run once the engine is back",
  async () => {
    const project = await sleepingProject(engine, { sleepSeconds: 4 });
    const proxy = engineProxy(project.path("../engine.sock"), engine.address());
    onTestFinished(() => proxy.close());
    const start = () => project.start({ env: { DOCKER_HOST: proxy.host } });
    const boxed = () => expect.poll(() => project.agent("boxed"), patience);
    const runs = () => expect.poll(() => project.history("kind=manual"), patience);
    await start();
    const error = expect.stringContaining(`no container engine answers at ${proxy.host}`) as string;
    await boxed().toMatchObject({ state: "blocked", error, running: 0 });
    expect(await project.trigger("boxed")).toEqual([202]);
    await boxed().toMatchObject({ queued: 1, running: 0, state: "blocked" });
    await proxy.open();
    await expect.poll(() => project.messages("boxed", "tool"), patience).toHaveLength(1);
    await project.scheduler.kill();
    await proxy.close();
    await start();
    await runs().toMatchObject([{ outcome: null, attempt: 1 }]);
    await proxy.open();
    await runs().toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
    expect(await project.messages("boxed", "said")).toEqual(["before", "after"]);
  },
  150_000,
);
