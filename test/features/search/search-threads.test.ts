import { existsSync, writeFileSync } from "node:fs";
import { indexPath } from "../../../src/features/search/index-format.ts";
import { createSearch, type SearchOptions } from "../../../src/features/search/search.ts";
import { pause } from "../../helpers/pause.ts";
import { logProject } from "./support.ts";

let project: ReturnType<typeof logProject>;
let problems: string[];
let search: ReturnType<typeof createSearch>;
beforeEach(() => {
  project = logProject();
  problems = [];
  search = start();
});
afterEach(() => search.close());

function start(options: Partial<SearchOptions> = {}): ReturnType<typeof createSearch> {
  const warn = (message: string) => void problems.push(message);
  const { projectDir } = project;
  return createSearch({ projectDir, warn, delayMs: 60_000, idleMs: 50, ...options });
}

const query = { order: "newest", limit: 20 } as const;
const find = (q: string) => search.find({ q, ...query });
/** Under load the pass that indexes new lines may take longer than a search waits for it. */
const mustFind = (q: string): Promise<void> =>
  expect.poll(async () => (await find(q)).runs).toHaveLength(1);

test("a search finds new log lines at once, also after idle search threads have ended", async () => {
  expect((await find("first")).runs).toEqual([]);
  project.write("first line");
  project.write("line of an earlier scheduler", { agent: "beta" });
  search.grew("alpha-2026-03-10.log");
  await mustFind("first");
  search.pruned();
  await mustFind("earlier");
  await pause(200, "the threads end when they are idle");
  project.write("second line");
  search.grew("alpha-2026-03-10.log");
  const before = Date.now();
  await mustFind("second");
  const page = await find("second");
  expect(Date.parse(page.indexedUntil ?? "")).toBeGreaterThanOrEqual(before);
  expect(problems).toEqual([]);
});

test("equal searches at the same time share one query", async () => {
  project.write("first line");
  const [one, same, other] = await Promise.all([find("first"), find("first"), find("line")]);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(await find("first")).not.toBe(one);
});

test("log lines are indexed even without a search", async () => {
  await search.close();
  search = start({ delayMs: 1 });
  expect(existsSync(indexPath(project.projectDir))).toBe(false);
  search.grew("alpha-2026-03-10.log");
  await expect.poll(() => existsSync(indexPath(project.projectDir))).toBe(true);
});

test("a corrupt search index is replaced", async () => {
  const text = "not a database, but long enough to be taken for one";
  writeFileSync(indexPath(project.projectDir), text);
  project.write("first line");
  await mustFind("first");
  expect(problems).toEqual([]);
});

test("a failed indexing of the logs is logged", async () => {
  project.write("first line");
  await mustFind("first");
  project.inIndex("DROP TABLE passes");
  project.inIndex("CREATE TABLE passes (id INTEGER)");
  search.pruned();
  await expect(find("first")).rejects.toMatchObject({ code: "search_unavailable" });
  expect(problems).toEqual([expect.stringContaining("log lines were not indexed")]);
});

test("an invalid search is rejected with a reason, whether or not an index exists", async () => {
  const assertRejected = async (): Promise<void> => {
    await expect(find("- * ..")).rejects.toMatchObject({ code: "bad_search" });
    const bad = search.find({ q: "first", before: "1;DROP", ...query });
    await expect(bad).rejects.toMatchObject({ code: "bad_cursor" });
  };
  project.write("first line");
  await assertRejected();
  await mustFind("first");
  await assertRejected();
});

test("a search that exceeds its time limit is ended with its thread, and the next one gets a new thread", async () => {
  project.write("first line");
  const hasty = start({ timeoutMs: 1 });
  const assertUnavailable = (): Promise<void> =>
    expect(hasty.find({ q: "first", ...query })).rejects.toMatchObject({
      code: "search_unavailable",
    });
  await assertUnavailable();
  await assertUnavailable();
  await hasty.close();
  await assertUnavailable();
  await mustFind("first");
});

test("the results of a search show the indexing progress until all logs are indexed", async () => {
  project.write("a line");
  expect((await find("line")).indexing).toBeDefined();
  await mustFind("line");
  await expect.poll(async () => (await find("line")).indexing).toBeNull();
  expect((await find("line")).indexedUntil).not.toBeNull();
});
