import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyProject, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null;
beforeEach(async () => {
  scheduler = null;
  project = await copyProject("examples/hello");
});
afterEach(async () => {
  await scheduler?.stop();
  await project.remove();
});

test("a start warns once of each model that is not known, also of one that comes later", async () => {
  const config = join(project.dir, "config.toml");
  await appendFile(config, '\n[models.next]\nprovider = "openai"\nmodel = "gpt-6"\n');
  scheduler = await startTestScheduler(project);
  await scheduler.waitForOutput(/model next: "gpt-6" is not in the list of openai's models/);
  await appendFile(config, '\n[models.later]\nprovider = "xai"\nmodel = "grok-5"\n');
  await scheduler.waitForOutput(/model later: "grok-5" is not in the list of xai's models/);
  expect(scheduler.output().match(/"gpt-6" is not in the list/g)).toHaveLength(1);
});
