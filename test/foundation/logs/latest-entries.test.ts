import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { latestEntries } from "../../../src/foundation/logs/latest-entries.ts";
import { entry, logPath, noon, tempProject, writeLines } from "./support.ts";

const latest = async (project: string, count = 20): Promise<string[]> =>
  (await latestEntries(project, count)).map(({ msg }) => msg);

const at = (time: number, agent = "dev") => entry(String(time), { time: noon + time, agent });

test("the last lines of all agents and the scheduler come oldest first, over days", async () => {
  const project = tempProject();
  writeLines(logPath(project, "dev", "2026-11-20"), [at(1), at(3)]);
  writeLines(logPath(project, "ops", "2026-11-20"), [at(2, "ops")]);
  writeLines(logPath(project, "dev"), [at(4), at(7)]);
  writeLines(logPath(project, "scheduler"), [at(6, "scheduler")]);
  writeLines(logPath(project, "ops"), [at(5, "ops"), at(8, "ops")]);
  expect(await latest(project)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
  expect(await latest(project, 5)).toEqual(["4", "5", "6", "7", "8"]);
  const [last] = await latestEntries(project, 1);
  expect(last).toEqual(at(8, "ops"));
});

test("a project without logs, or with something else in their place, has none", async () => {
  expect(await latest(tempProject())).toEqual([]);
  const project = tempProject();
  writeLines(`${project}/.al/logs`, [entry("no folder")]);
  expect(await latest(project)).toEqual([]);
});

test("what is no log, can't be read, or is broken is passed over", async () => {
  const project = tempProject();
  writeLines(logPath(project, "dev", "2026-11-20"), [entry("old")]);
  writeLines(logPath(project), [entry("good"), "broken\n", entry("after it"), '{"lev']);
  writeLines(logPath(project, "empty"), []);
  writeLines(`${project}/.al/logs/notes.txt`, ["not a log\n"]);
  mkdirSync(logPath(project, "folder"));
  execFileSync("mkfifo", [logPath(project, "pipe")]);
  symlinkSync("/nowhere", logPath(project, "link"));
  expect(await latest(project)).toEqual(["old", "good", "broken line: broken", "after it"]);
});

test("no more files are looked into than lines are wanted: those written last", async () => {
  const project = tempProject();
  for (const [i, agent] of ["a", "b", "c", "d"].entries()) {
    writeLines(logPath(project, agent), [at(10 - i, agent)]);
    utimesSync(logPath(project, agent), noon / 1000 + i, noon / 1000 + i);
  }
  expect(await latest(project, 2)).toEqual(["7", "8"]);
});

test("the files of a copied project, all written as it was copied, are in the order of their days", async () => {
  const project = tempProject();
  for (const day of [21, 19, 20]) {
    writeLines(logPath(project, "dev", `2026-11-${day}`), [at(day)]);
  }
  expect(await latest(project)).toEqual(["19", "20", "21"]);
  expect(await latest(project, 2)).toEqual(["20", "21"]);
});
