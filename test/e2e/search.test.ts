import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { SearchPage } from "../../src/foundation/contracts/search.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null = null;
beforeEach(async () => {
  project = await copyProject("examples/hello");
  const file = join(project.dir, "agents/hello/config.toml");
  const config = await readFile(file, "utf8");
  await writeFile(file, config.replace(/^schedule = .*$/m, "callable = true"));
});
afterEach(async () => {
  await scheduler?.kill();
  scheduler = null;
  await project.remove();
});

/** Runs the agent to its end; the id of the run. */
async function run({ api }: TestScheduler): Promise<string> {
  await api("/control/trigger/hello", { method: "POST" });
  const succeeded = async (): Promise<string | null> => {
    const answer = await api("/api/stats/triggers?outcome=succeeded");
    return ((await answer.json()) as HistoryPage).triggers[0]?.instanceId ?? null;
  };
  await expect.poll(succeeded, { timeout: 30_000 }).not.toBeNull();
  return (await succeeded()) ?? "";
}

async function grep(): Promise<SearchPage> {
  const { stdout } = await runAl(project, ["logs", "--grep", '"run succeeded"', "--json"]);
  return JSON.parse(stdout) as SearchPage;
}

test(
  "a run is found by its log, with and without a scheduler and an index",
  { timeout: 90_000 },
  async () => {
    scheduler = await startTestScheduler(project);
    const instanceId = await run(scheduler);
    const expected = [{ agent: "hello", instanceId, outcome: "succeeded", count: 1 }];
    const page = async (query: string): Promise<SearchPage | undefined> => {
      const answer = await scheduler?.api(`/api/search?${query}`);
      expect(answer?.status).toBe(200);
      return (await answer?.json()) as SearchPage;
    };
    // Before the first pass of the index.
    expect(await page('q="run+succeeded"&outcome=succeeded')).toMatchObject({ runs: expected });
    expect(await page("q=succeeded&outcome=failed")).toMatchObject({ runs: [], next: null });
    expect(await page("q=date&kind=tool")).toMatchObject({ runs: [{ instanceId }] });
    expect((await scheduler.api("/api/search?q=--")).status).toBe(400);
    expect((await grep()).runs).toMatchObject(expected);
    const index = join(project.dir, ".al/search.db");
    await expect.poll(() => existsSync(index), { timeout: 30_000 }).toBe(true);
    expect(await page("q=date&kind=tool")).toMatchObject({ runs: [{ instanceId, count: 1 }] });
    await scheduler.kill();
    scheduler = null;
    expect((await grep()).runs).toMatchObject(expected);
    await rm(index);
    expect((await grep()).runs).toMatchObject(expected);
  },
);
