import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { openStore } from "../../src/foundation/store/store.ts";
import { anItem } from "../helpers/agents.ts";
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

test("work that waits for an agent whose directory is missing at the start runs when it is there", async () => {
  const agent = join(project.dir, "agents", "hello");
  const elsewhere = join(project.dir, "elsewhere");
  await mkdir(join(project.dir, ".al"), { mode: 0o700 });
  const store = openStore(project.dir);
  await store.work.enqueue([anItem("left-behind", "hello")]);
  store.close();
  await rename(agent, elsewhere);

  scheduler = await startTestScheduler(project);
  const entry = async () => {
    const response = await scheduler?.api("/api/stats/triggers");
    const { triggers } = (await response?.json()) as HistoryPage;
    return triggers.find(({ id }) => id === "left-behind");
  };
  await scheduler.waitForOutput(/hello.+queued/);
  expect(await entry()).toMatchObject({ outcome: null, deadLetter: false });

  await rename(elsewhere, agent);
  await expect
    .poll(entry, { timeout: 20_000 })
    .toMatchObject({ outcome: "succeeded", deadLetter: false });
});
