import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { containersOfProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, ensureBase, testEngine } from "../helpers/docker.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";
import { isLong } from "../helpers/long.ts";
import { hasOwnEngine, ownEngine } from "../helpers/own-engine.ts";
import { askingProject, openQuestions, toolResults } from "./asking-project.ts";

const { missing } = await testEngine();
const canRestart = isLong && missing === null && hasOwnEngine;
const patience = { timeout: 90_000 };
const container = 'type = "container"';

describe.runIf(canRestart)("an engine that restarts while a run waits for its answer", () => {
  let folder: string;
  let own: ReturnType<typeof ownEngine>;
  let project: LiveProject;
  let close: () => Promise<void>;
  forAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "al-restart-"));
    own = ownEngine(folder);
    await own.start("--live-restore");
    await ensureBase(own.engine);
    await defaultTestImage(own.engine);
    const runtimes = [container, container] as const;
    const made = await askingProject({ bin: null, runtimes, isContained: true });
    ({ project } = made);
    close = () => made.provider.close();
    await project.start({ env: { DOCKER_HOST: own.host } });
  }, engineSetupMs);
  afterAll(async () => {
    await project.scheduler.stop();
    await close();
    await own.remove();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const containers = () => containersOfProject(own.engine, project.dir);
  const asked = async () => (await openQuestions(project)).get("pi");
  const history = () => project.history("agent=pi&kind=manual");

  /** Starts a run, and returns its instance id once it is paused with an open question. */
  async function waiting(): Promise<string> {
    expect(await project.trigger("pi")).toEqual([202]);
    const paused = async () => {
      const states = (await containers()).map((id) =>
        own.engine.calls().getContainer(id).inspect(),
      );
      return (await Promise.all(states)).map(({ State }) => State.Paused);
    };
    await expect.poll(paused, patience).toEqual([true]);
    return (await asked())?.instanceId ?? "";
  }

  async function answer(): Promise<void> {
    const path = `/api/questions/${(await asked())?.id}/answer`;
    expect((await project.post(path, { answer: "yes" })).status).toBe(200);
  }

  test.each(["while it is away", "after its return"])(
    "keeps the run with live-restore; an answer %s goes to its session",
    { timeout: 150_000 },
    async (when) => {
      const instanceId = await waiting();
      const before = (await toolResults(project, "pi")).length;
      await own.stop();
      if (when === "while it is away") await answer();
      await sleep(5_000);
      await own.start("--live-restore");
      if (when === "after its return") await answer();
      const ended = { outcome: "succeeded", attempt: 1, instanceId };
      await expect.poll(async () => (await history())[0], patience).toMatchObject(ended);
      expect((await project.messages("pi", "said")).at(-1)).toBe("I go on.");
      const results = (await toolResults(project, "pi")).slice(before);
      expect(results).toEqual([expect.stringMatching(/answer\W+yes/)]);
      await expect.poll(containers, patience).toEqual([]);
    },
  );

  test(
    "ends the run without live-restore; its work is tried again, and asks again",
    { timeout: 200_000 },
    async () => {
      await own.stop();
      await own.start();
      const lost = await waiting();
      await own.stop();
      await own.start();
      await expect.poll(async () => (await asked())?.instanceId ?? lost, patience).not.toBe(lost);
      expect((await history()).slice(0, 2)).toMatchObject([
        { outcome: null, attempt: 2 },
        { outcome: "lost", attempt: 1, instanceId: lost },
      ]);
      await answer();
      const ended = { outcome: "succeeded", attempt: 2 };
      await expect.poll(async () => (await history())[0], patience).toMatchObject(ended);
      await expect.poll(containers, patience).toEqual([]);
      const { questions } = await project.json<{ questions: unknown[] }>("/api/questions");
      expect(questions.slice(0, 2)).toMatchObject([{ state: "answered" }, { state: "withdrawn" }]);
    },
  );
});
