import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { SearchPage } from "../../src/features/search/search-report.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";

test("a run is found by its log, with and without a scheduler and an index", async () => {
  const project = await commandAgents(() => ({ hello: "date" }));
  const { api } = await project.start();
  await project.print("run", "hello");
  const instanceId = (await project.latest("hello"))?.instanceId;
  const expected = { runs: [{ agent: "hello", instanceId, outcome: "succeeded", count: 1 }] };
  const page = (query: string) => project.json<SearchPage>(`/api/search?${query}`);
  const grep = async (): Promise<unknown> =>
    JSON.parse(await project.print("logs", "--grep", '"run succeeded"', "--json"));
  // Before the first pass of the index.
  expect(await page('q="run+succeeded"&outcome=succeeded')).toMatchObject(expected);
  expect(await page("q=succeeded&outcome=failed")).toMatchObject({ runs: [], next: null });
  expect(await page("q=date&kind=tool")).toMatchObject({ runs: [{ instanceId }] });
  expect((await api("/api/search?q=--")).status).toBe(400);
  expect(await grep()).toMatchObject(expected);
  const index = project.path(".al/search.db");
  await expect.poll(() => existsSync(index), slowly).toBe(true);
  expect(await page("q=date&kind=tool")).toMatchObject({ runs: [{ instanceId, count: 1 }] });
  await project.scheduler.kill();
  expect(await grep()).toMatchObject(expected);
  await rm(index);
  expect(await grep()).toMatchObject(expected);
}, 90_000);
