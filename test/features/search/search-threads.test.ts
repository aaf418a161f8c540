import { afterEach, beforeEach, expect, test } from "vitest";
import { createIndexing } from "../../../src/features/search/indexing.ts";
import { createQueries } from "../../../src/features/search/queries.ts";
import { indexPath } from "../../../src/features/search/index-format.ts";
import { existsSync, writeFileSync } from "node:fs";
import { logProject } from "./support.ts";

let project: ReturnType<typeof logProject>;
let problems: string[];
let queries: ReturnType<typeof createQueries>;
let indexing: ReturnType<typeof createIndexing>;
beforeEach(() => {
  project = logProject();
  problems = [];
  const { projectDir } = project;
  queries = createQueries({ projectDir });
  const warn = (message: string): void => void problems.push(message);
  indexing = createIndexing({ projectDir, warn, firstMs: 10, delayMs: 10, idleMs: 200 });
});
afterEach(async () => {
  await queries.close();
  await indexing.close();
  project.remove();
});

const find = (q: string) => queries.find({ q, order: "newest", limit: 20 });
const found = async (q: string): Promise<number> => (await find(q)).runs.length;

test("lines are found after they are written, by threads that come and go", async () => {
  expect((await find("first")).runs).toEqual([]);
  expect(existsSync(indexPath(project.projectDir))).toBe(false);
  project.write({ msg: "first line" });
  project.write({ msg: "line of an earlier scheduler", agent: "beta" });
  indexing.grew("alpha-2026-03-10.log");
  await expect.poll(() => found("first")).toBe(1);
  expect(await found("earlier")).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 400));
  project.write({ msg: "second line" });
  indexing.grew("alpha-2026-03-10.log");
  await expect.poll(() => found("second")).toBe(1);
  expect(problems).toEqual([]);
});

test("an index that is broken is made anew", async () => {
  writeFileSync(
    indexPath(project.projectDir),
    "no database, but a text that is long enough to be one",
  );
  project.write({ msg: "first line" });
  indexing.pruned();
  await expect.poll(() => found("first")).toBe(1);
  expect(problems).toEqual([]);
});

test("a search that can't be asked is refused with its reason", async () => {
  const mustRefuse = async (): Promise<void> => {
    await expect(find("- * ..")).rejects.toMatchObject({ code: "bad_search" });
    const query = { q: "first", order: "newest", limit: 20, before: "1;DROP" } as const;
    await expect(queries.find(query)).rejects.toMatchObject({ code: "bad_cursor" });
  };
  project.write({ msg: "first line" });
  await mustRefuse();
  await project.index();
  expect(await found("first")).toBe(1);
  await mustRefuse();
});

test("a search that takes too long ends with its thread, and the next one has another", async () => {
  project.write({ msg: "first line" });
  await project.index();
  const { projectDir } = project;
  const hasty = createQueries({ projectDir, timeoutMs: 1 });
  const query = { q: "first", order: "newest", limit: 20 } as const;
  await expect(hasty.find(query)).rejects.toMatchObject({ code: "search_unavailable" });
  await expect(hasty.find(query)).rejects.toMatchObject({ code: "search_unavailable" });
  await hasty.close();
  await expect(hasty.find(query)).rejects.toMatchObject({ code: "search_unavailable" });
  expect(await found("first")).toBe(1);
});

test("of searches that come faster than they are answered, a few wait and others are refused", async () => {
  const asked = await Promise.allSettled(Array.from({ length: 30 }, () => find("first")));
  const refused = asked.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(10);
});
