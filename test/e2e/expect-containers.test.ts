import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { latestOf } from "../helpers/command-agents.ts";
import { messagesOfBoxed, sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();
const slowly = { timeout: 90_000 };

describe.skipIf(missing !== null)("what a run in a container leaves", { timeout: 180_000 }, () => {
  let project: TestProject;
  let scheduler: TestScheduler;
  beforeAll(() => defaultTestImage(engine), engineSetupMs);
  beforeEach(async () => {
    project = await sleepingProject(engine, { sleepSeconds: 0 });
    const command = JSON.stringify(`al-return '{"id":"one"}'; sleep 8`);
    await writeFile(
      join(project.dir, "boxed.script.toml"),
      `[[turns]]\n[[turns.tools]]\nname = "bash"\narguments = { command = ${command} }\n\n[[turns]]\ntext = "done"\n`,
    );
    const agent = join(project.dir, "agents/boxed");
    await appendFile(join(agent, "config.toml"), '[expect]\nsaid = true\nschema = "out.json"\n');
    await writeFile(join(agent, "out.json"), '{"properties":{"id":{"type":"integer"}}}');
    scheduler = await startTestScheduler(project);
    await scheduler.api("/control/trigger/boxed", { method: "POST" });
    await expect.poll(() => messagesOfBoxed(project, "tool"), slowly).toHaveLength(1);
  });
  afterEach(async () => {
    await scheduler.stop();
    await project.remove();
  });

  const refused = {
    outcome: "failed",
    exitCode: 1,
    reason: "the returned value does not meet out.json: /id must be integer",
    attempt: 1,
  };

  test("is what its schema refuses", async () => {
    await expect.poll(() => latestOf(scheduler, "boxed"), slowly).toMatchObject(refused);
  });

  test("is the same under the scheduler that adopts it", async () => {
    await scheduler.kill();
    scheduler = await startTestScheduler(project);
    await expect.poll(() => latestOf(scheduler, "boxed"), slowly).toMatchObject(refused);
  });
});
