import { chmodSync, existsSync } from "node:fs";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { indexing, logProject, noon } from "./support.ts";

let project: ReturnType<typeof logProject>;
beforeEach(() => void (project = logProject()));

test("a search without the scheduler indexes new log lines, and finds them with their run", async () => {
  const run = { instanceId: "alpha-aaaaaaaa" };
  project.write("word one", { ...run });
  await project.index();
  project.write("word two", { time: noon + 1, ...run });
  project.write("word three", { time: noon + 2, agent: "beta" });
  const page = await project.find("word");
  expect(page.runs.map(({ count }) => count)).toEqual([1, 2]);
  expect(await project.texts("word")).toEqual(["word three", "word two", "word one"]);
  expect(project.inIndex("SELECT count(*) AS n FROM files WHERE indexed > 0")).toEqual({ n: 2 });
});

test("a search without the scheduler leaves no index behind if the project has none", async () => {
  project.write("word");
  expect(await project.texts("word")).toEqual(["word"]);
  expect(existsSync(indexPath(project.projectDir))).toBe(false);
});

test("a search without the scheduler does not change an index of another format", async () => {
  project.write("word");
  await project.index();
  project.inIndex("PRAGMA user_version = 99");
  expect(await project.texts("word")).toEqual(["word"]);
  expect(project.inIndex("PRAGMA user_version")).toEqual({ user_version: 99 });
});

test.skipIf(process.getuid?.() === 0)(
  "a search without the scheduler finds new lines if the index can't be written",
  async () => {
    project.write("word one");
    await project.index();
    project.write("word two", { time: noon + 1 });
    chmodSync(indexPath(project.projectDir), 0o400);
    expect(await project.texts("word")).toEqual(["word two", "word one"]);
  },
);

test("a search without the scheduler does not mark the first pass over all logs as done", async () => {
  openIndex(indexPath(project.projectDir)).close();
  project.write("word");
  expect(await project.texts("word")).toEqual(["word"]);
  expect(project.inIndex("SELECT at FROM passes")).toBeUndefined();
});

test("two processes that index the same lines store each line once", async () => {
  for (let i = 0; i < 300; i++) project.write(`word ${i}`, { time: noon + i });
  openIndex(indexPath(project.projectDir)).close();
  const options = { sliceBytes: 1_000, isBackground: true };
  const passes = [1, 2, 3].map(() =>
    indexing(project.projectDir, (indexer) => indexer.indexAll(), options),
  );
  await Promise.all(passes);
  const { runs } = await project.find("word");
  expect(runs.map(({ count }) => count)).toEqual([300]);
});
