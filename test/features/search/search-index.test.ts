import { openStore } from "../../../src/features/open-store.ts";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SearchQuery } from "../../../src/features/search/search-report.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { indexProgress } from "../../../src/features/search/index-progress.ts";
import { dayMs, findIn, logProject, noon } from "./support.ts";

const run = { instanceId: "alpha-aaaaaaaa" };
let project: ReturnType<typeof logProject>;
beforeEach(() => void (project = logProject()));

test("the search over all logs finds lines by words, phrases and prefixes, newest first, grouped by run", async () => {
  project.write("deploy of web failed", { ...run, kind: "said" });
  project.write("web deploy is done", { instanceId: "alpha-bbbbbbbb", time: noon + 1 });
  project.write("deployment", { agent: "beta", time: noon - dayMs });
  await project.index();
  expect(await project.texts("deploy web")).toEqual(["web deploy is done", "deploy of web failed"]);
  expect(await project.texts('"deploy of"')).toEqual(["deploy of web failed"]);
  expect(await project.texts("DEPLOY*")).toHaveLength(3);
  expect((await project.texts("deploy*", { order: "oldest" }))[0]).toBe("deployment");
  expect((await project.find("failed")).runs).toMatchObject([
    { agent: "alpha", instanceId: "alpha-aaaaaaaa", count: 1, matches: [{ ranges: [[14, 20]] }] },
  ]);
  expect(await project.texts("deploy", { agent: "beta" })).toEqual([]);
  expect(await project.texts("deployment", { agent: "beta" })).toEqual(["deployment"]);
  expect((await project.find("deploy")).indexedUntil).not.toBeNull();
});

test("all pages of a search together list every run once", async () => {
  for (let i = 0; i < 40; i++) {
    const instanceId = `alpha-aaaaaa${String(i % 10).padStart(2, "a")}`;
    project.write(`common ${i}`, { instanceId, time: noon + i });
  }
  await project.index(500);
  for (const order of ["newest", "oldest"] as const) {
    const seen: (string | null)[] = [];
    let before: string | null | undefined;
    while (before !== null) {
      const { runs, next } = await project.find("common", { before, order, limit: 3 });
      seen.push(...runs.map(({ instanceId }) => instanceId));
      expect(runs.every(({ count }) => count === 4)).toBe(true);
      before = next;
    }
    expect(seen).toHaveLength(10);
    expect(new Set(seen).size).toBe(10);
  }
});

test("a search can filter by kind, run, time and outcome at once", async () => {
  project.write("word one", { kind: "said", ...run });
  project.write("", { kind: "tool-result", tool: "bash", output: "word two", ...run });
  project.write("word three", { time: noon + 60_000, level: 50 });
  project.write("word four", { kind: "usage" });
  project.write("word five", { kind: "said", agent: "beta", time: noon - dayMs });
  storeRun();
  await project.index();
  const queries: readonly [Partial<SearchQuery>, readonly string[]][] = [
    [{}, ["three", "two", "one", "five"]],
    [{ kind: "said" }, ["one", "five"]],
    [{ kind: "error" }, ["three"]],
    [{ kind: "scheduler", agent: "alpha" }, ["three"]],
    [{ instance: "alpha-aaaaaaaa" }, ["two", "one"]],
    [{ instance: "alpha-zzzzzzzz" }, []],
    [{ outcome: "failed" }, ["two", "one"]],
    [{ outcome: "succeeded" }, []],
    [{ since: new Date(noon + 1).toISOString() }, ["three"]],
    [{ since: new Date(noon + 1).toISOString(), order: "oldest" }, ["three"]],
  ];
  for (const [query, numbers] of queries)
    expect(await project.texts("word", query), JSON.stringify(query)).toEqual(
      numbers.map((n) => `word ${n}`),
    );
  expect((await project.find("word", { outcome: "failed" })).runs).toMatchObject([
    { outcome: "failed", usd: 0.5, count: 2 },
  ]);
});

test("a search finds prompts only with the filter kind = prompt", async () => {
  project.write("prompt", { kind: "prompt", output: "retry if the build fails", time: noon });
  project.write("the build fails", { kind: "said", time: noon + 1 });
  await project.index();
  const build = '"build fails"';
  expect(await project.texts(build, { order: "oldest" })).toEqual(["the build fails"]);
  expect(await project.texts("retry")).toEqual([]);
  expect(await project.texts(build, { kind: "prompt" })).toEqual(["retry if the build fails"]);
});

test("a search page that exceeds its time budget ends early, and `next` continues from there", async () => {
  project.write("word of a run", run);
  for (let i = 0; i < 200; i++) project.write(`word ${i}`, { time: noon + i });
  await project.index();
  const page = (before?: string) => findIn(project.projectDir, "word", { limit: 5, before }, -1);
  const pages = [await page()];
  expect(pages[0]?.runs).toMatchObject([{ instanceId: null, count: 200 }]);
  for (let next = pages[0]?.next; next != null; next = pages.at(-1)?.next) {
    pages.push(await page(next));
  }
  expect(pages.length).toBeGreaterThan(2);
  const runs = pages.flatMap((one) => one.runs.map(({ instanceId }) => instanceId));
  expect(runs).toEqual([null, "alpha-aaaaaaaa"]);
});

test("a search shows the part of a long line around the match, and the lines before and after it", async () => {
  project.write("before", run);
  project.write("of another run", { instanceId: "alpha-bbbbbbbb" });
  project.write(`one\n${"long ".repeat(200)}needle ${"tail ".repeat(200)}\ntwo`, run);
  project.write("after\nlast", run);
  await project.index();
  const [match] = (await project.find("needle")).runs[0]?.matches ?? [];
  expect(match).toMatchObject({ before: ["before", "one"], after: ["two", "after"] });
  expect(match?.text.length).toBeLessThan(500);
  const [range] = match?.ranges ?? [];
  expect(match?.text.slice(...(range ?? [0, 0]))).toBe("needle");
});

/** Stores that the run has failed. */
function storeRun(): void {
  openStore(project.projectDir).close();
  const db = new DatabaseSync(join(project.projectDir, ".al/state.db"));
  db.exec(
    `INSERT INTO triggers (id, at, kind, agent, state, outcome, dead_letter, attempt, instance_id, started_at, cost_usd)
     VALUES ('w1', 1, 'cron', 'alpha', 'ended', 'failed', 0, 1, 'alpha-aaaaaaaa', 1, 0.5)`,
  );
  db.close();
}

test("the progress of the first indexing counts bytes and finished days", async () => {
  project.write("an older line", { time: noon - dayMs });
  project.write("a line");
  expect(await indexProgress(null, project.dir)).toEqual({ percent: 0, daysDone: 0, days: 2 });
  await project.index();
  const db = openIndex(indexPath(project.projectDir));
  onTestFinished(() => db.close());
  expect(await indexProgress(db, project.dir)).toEqual({ percent: 100, daysDone: 2, days: 2 });
  project.write("a line");
  const { percent, daysDone } = await indexProgress(db, project.dir);
  expect(percent).toBeGreaterThan(60);
  expect(percent).toBeLessThan(75);
  expect(daysDone).toBe(1);
});
