import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { formatLine } from "../../../src/foundation/logs/line-queue.ts";
import { indexPath } from "../../../src/features/search/index-format.ts";
import { dayMs, indexing, logProject, noon } from "./support.ts";

let project: ReturnType<typeof logProject>;
beforeEach(() => void (project = logProject()));

const logFile = () => join(project.dir, "alpha-2026-03-10.log");
function lineOf(msg: string): string {
  return formatLine({ level: 30, time: noon, agent: "alpha", msg });
}

/** Indexes the new lines of files, by the names that their writer gives. */
const indexNew = (...names: string[]): Promise<void> =>
  indexing(project.projectDir, (indexer) => indexer.indexNew(names));

test("each log line is indexed once, also if only its first half was written before", async () => {
  appendFileSync(logFile(), lineOf("whole").repeat(3) + lineOf("half").slice(0, 20));
  await project.index();
  appendFileSync(logFile(), lineOf("half").slice(20));
  await indexNew("alpha-2026-03-10.log");
  await indexNew("alpha-2026-03-10.log");
  expect(await project.texts("half")).toEqual(["half"]);
  expect(await project.texts("whole")).toEqual(["whole", "whole", "whole"]);
});

test.each([
  ["truncated", () => truncateSync(logFile(), 0)],
  ["replaced by one of the same length", () => writeFileSync(logFile(), lineOf("after!"))],
  ["replaced by a longer one", () => writeFileSync(logFile(), lineOf("after!").repeat(4))],
  [
    "created again",
    () => (rmSync(logFile()), writeFileSync(logFile(), lineOf("after!").repeat(2))),
  ],
])(
  "a log file that was %s is indexed again with the other files of its day",
  async (_how, change) => {
    project.write("before");
    project.write("other agent", { agent: "beta" });
    await project.index();
    change();
    appendFileSync(logFile(), lineOf("last"));
    await indexNew("alpha-2026-03-10.log");
    expect(indexedLines("before")).toEqual({ n: 0 });
    expect(await project.texts("before")).toEqual([]);
    expect(await project.texts("last")).toEqual(["last"]);
    expect(await project.texts("other")).toEqual(["other agent"]);
  },
);

test("the search index drops the words of a deleted log file, and the tables of a day without log files", async () => {
  project.write("secret plan", { time: noon - dayMs });
  project.write("stays", { agent: "beta", time: noon - dayMs });
  project.write("oldest", { time: noon - 2 * dayMs, instanceId: "alpha-aaaaaaaa" });
  await project.index();
  rmSync(join(project.dir, "alpha-2026-03-09.log"));
  rmSync(join(project.dir, "alpha-2026-03-08.log"));
  await project.index();
  expect(await project.texts("stays")).toEqual(["stays"]);
  const file = readFileSync(indexPath(project.projectDir), "latin1");
  expect(file).not.toContain("oldest");
  expect(indexedLines("secret", "20260309")).toEqual({ n: 0 });
  expect(project.inIndex("SELECT count(*) AS n FROM runs")).toEqual({ n: 0 });
});

test("log lines whose words can't be stored are indexed once later", async () => {
  project.write("first");
  await project.index();
  project.write("second");
  project.inIndex("ALTER TABLE words_20260310 RENAME TO away");
  project.inIndex("CREATE TABLE words_20260310 (other)");
  await expect(project.index()).rejects.toThrow("words_20260310");
  project.inIndex("DROP TABLE words_20260310");
  project.inIndex("ALTER TABLE away RENAME TO words_20260310");
  await project.index();
  expect(await project.texts("second")).toEqual(["second"]);
});

test("indexing skips log lines that are not JSON objects, and binary data", async () => {
  const rubbish = Buffer.from([0, 255, 10, 200, 10, 123, 125, 10]);
  appendFileSync(logFile(), rubbish);
  appendFileSync(logFile(), `{"msg":7,"time":1}\n[]\nnull\n${lineOf("good")}`);
  await project.index();
  expect(await project.texts("good")).toEqual(["good"]);
});

test("a folder or pipe in place of a log file does not stop the indexing", async () => {
  project.write("good");
  mkdirSync(join(project.dir, "beta-2026-03-10.log"));
  execFileSync("mkfifo", [join(project.dir, "gamma-2026-03-10.log")]);
  await project.index();
  await indexNew("beta-2026-03-10.log", "gamma-2026-03-10.log");
  expect(indexedLines("good")).toEqual({ n: 1 });
});

test("only its owner may read the search index", async () => {
  project.write("private");
  await project.index();
  expect(statSync(indexPath(project.projectDir)).mode & 0o777).toBe(0o600);
});

test("a search index of another format is replaced", async () => {
  project.write("first");
  await project.index();
  project.inIndex("PRAGMA user_version = 99");
  project.inIndex("DROP TABLE runs");
  await project.index();
  expect(await project.texts("first")).toEqual(["first"]);
});

/** How many lines of a day the index itself finds. */
function indexedLines(word: string, day = "20260310"): unknown {
  const words = `words_${day}`;
  return project.inIndex(`SELECT count(*) AS n FROM ${words} WHERE ${words} MATCH ?`, word);
}
