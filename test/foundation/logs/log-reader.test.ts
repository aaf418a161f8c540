import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { logFilesBetween } from "../../../src/foundation/logs/log-files.ts";
import { latestEntries } from "../../../src/foundation/logs/log-reader.ts";
import type { LogQuery } from "../../../src/foundation/logs/log-query.ts";
import { createLogSource } from "../../../src/foundation/logs/log-source.ts";
import { entry, logPath, noon, tempProject, writeLines } from "./support.ts";

const read = async (project: string, query: Partial<LogQuery> = {}): Promise<string[]> => {
  const all = { agent: "dev", instanceId: null, lines: 100, after: null, ...query };
  return (await createLogSource(project).read(all)).map((line) => line.entry.msg);
};

const numbered = (from: number, to: number, more = {}) =>
  Array.from({ length: to - from }, (_, i) =>
    entry(`${from + i}`, { time: noon + from + i, ...more }),
  );

test("the last lines of a log come oldest first, from as many days as needed", async () => {
  const project = tempProject();
  writeLines(logPath(project, "dev", "2026-11-19"), numbered(0, 10));
  writeLines(logPath(project, "dev", "2026-11-20"), numbered(10, 12));
  writeLines(logPath(project, "dev", "2026-11-21"), numbered(12, 20));
  writeLines(logPath(project, "dev-2", "2026-11-21"), [entry("of another agent")]);
  expect(await read(project, { lines: 3 })).toEqual(["17", "18", "19"]);
  expect(await read(project, { lines: 12 })).toEqual(numbered(8, 20).map(({ msg }) => msg));
  expect(await read(project, { lines: 0 })).toEqual([]);
  expect(await read(project)).toHaveLength(20);
});

test("one run's log lines are found among others, over midnight, with or without the agent's name", async () => {
  const project = tempProject();
  const mine = { instanceId: "dev-aaaaaaaa" };
  writeLines(logPath(project, "dev", "2026-11-20"), [
    ...numbered(0, 2, { instanceId: "dev-bbbbbbbb" }),
    ...numbered(2, 4, mine),
  ]);
  writeLines(logPath(project), [
    ...numbered(4, 6, mine),
    entry("says dev-aaaaaaaa only", { instanceId: "dev-cccccccc" }),
  ]);
  expect(await read(project, mine)).toEqual(["2", "3", "4", "5"]);
  expect(await read(project, { ...mine, agent: null })).toEqual(["2", "3", "4", "5"]);
  expect(await read(project, { ...mine, lines: 3 })).toEqual(["3", "4", "5"]);
});

test("the log reader opens only the files of the days on which a run ran, if they are known", async () => {
  const project = tempProject();
  const mine = { instanceId: "dev-aaaaaaaa" };
  for (const [n, date] of ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"].entries()) {
    writeLines(logPath(project, "dev", date), [entry(`${n}`, mine)]);
  }
  const times = {
    from: Date.parse("2026-11-19T23:59:59.999Z"),
    to: Date.parse("2026-11-20T00:00:00Z"),
  };
  expect(await read(project, { ...mine, times })).toEqual(["1", "2"]);
});

test("the logs of all agents and the scheduler are merged by time; each log keeps its order", async () => {
  const project = tempProject();
  const started = Date.now() - 1_000;
  const at = (msg: string, time: number) => entry(msg, { time: started + time });
  writeLines(logPath(project, "a"), [at("1", 1), at("4", 4), at("late 2", 2), at("7", 7)]);
  writeLines(logPath(project, "b", "2026-11-20"), [at("0", 0)]);
  writeLines(logPath(project, "b"), [at("3", 3), at("5", 5)]);
  writeLines(logPath(project, "scheduler"), [at("6", 6)]);
  const merged = ["0", "1", "3", "4", "late 2", "5", "6", "7"];
  expect(await read(project, { agent: null })).toEqual(merged);
  expect(await read(project, { agent: null, lines: 3 })).toEqual(merged.slice(-3));
});

test("reading logs continues exactly at any position, for one agent and for all", async () => {
  const project = tempProject();
  for (const date of ["2026-11-20", "2026-11-21"]) {
    writeLines(logPath(project, "dev", date), numbered(0, 5, { date }));
    writeLines(logPath(project, "ops", date), numbered(0, 5, { date, agent: "ops" }));
  }
  writeLines(logPath(project, "dev"), numbered(90, 92));
  const source = createLogSource(project);
  const query = { instanceId: null, lines: 100, after: null };
  const dev = await source.read({ ...query, agent: "dev" });
  for (const [i, { id }] of dev.entries()) {
    expect(await source.read({ ...query, agent: "dev", after: id })).toEqual(dev.slice(i + 1));
  }
  const ordered = numbered(0, 30);
  const merged = tempProject();
  for (const [i, one] of ordered.entries()) {
    const agent = ["a", "b", "c"][i % 3] ?? "a";
    writeLines(logPath(merged, agent), [{ ...one, agent }]);
  }
  const everything = createLogSource(merged);
  const all = await everything.read({ ...query, agent: null });
  expect(all.map((line) => line.entry.msg)).toEqual(ordered.map(({ msg }) => msg));
  for (const [i, { id }] of all.entries()) {
    expect(await everything.read({ ...query, agent: null, after: id })).toEqual(all.slice(i + 1));
  }
});

test.each([
  "",
  "dev-2026-11-21.log:3",
  "dev-2026-11-21.log:99999",
  "../x:0",
  "ops-2026-11-21.log:0",
])("the unknown log position %j is ignored", async (after) => {
  const project = tempProject();
  writeLines(logPath(project), numbered(0, 5));
  expect(await read(project, { after, lines: 2 })).toEqual(["3", "4"]);
});

test("an incomplete last line of a log is not shown yet; a broken line before it is shown as broken", async () => {
  const project = tempProject();
  writeLines(logPath(project), [
    entry("a"),
    '{"level":30,"time":1795262400123,"ms\n',
    entry("b"),
    '{"lev',
  ]);
  expect(await read(project)).toEqual([
    "a",
    'broken line: {"level":30,"time":1795262400123,"ms',
    "b",
  ]);
});

test("a broken log line that exceeds the length limit is cut", async () => {
  const project = tempProject();
  writeLines(logPath(project), [`${"x".repeat(500_000)}\n`, entry("after")]);
  expect((await read(project)).map(({ length }) => length)).toEqual([32 * 1024 + 13, 5]);
});

test("a log line with an invalid time or an empty run id counts as broken", async () => {
  const project = tempProject();
  const bad = [
    '{"level":30,"time":1e999,"agent":"dev","msg":"a"}',
    '{"level":30,"time":1795262400123,"agent":"dev","instanceId":7,"msg":"b"}',
  ];
  for (const date of ["2026-11-20", "2026-99-99"]) {
    writeLines(
      logPath(project, "dev", date),
      bad.map((line) => `${line}\n`),
    );
  }
  const query = { agent: "dev", instanceId: null, lines: 9, after: null };
  const lines = await createLogSource(project).read(query);
  const shown = bad.map((line) => `broken line: ${line}`);
  expect(lines.map(({ entry: { msg } }) => msg)).toEqual([...shown, ...shown]);
  const times = [Date.UTC(2026, 10, 20), 1795262400123, 0, 1795262400123];
  expect(lines.map(({ entry: { time } }) => time)).toEqual(times);
});

const at = (text: string): number => Date.parse(text);

test("a run's log files are those of the UTC days on which it ran", () => {
  const names = (from: string, to: string) =>
    logFilesBetween("dev", at(from), at(to))?.map(({ name }) => name);
  expect(names("2026-11-22T23:59:00Z", "2026-11-24T00:00:00Z")).toEqual([
    "dev-2026-11-22.log",
    "dev-2026-11-23.log",
    "dev-2026-11-24.log",
  ]);
  expect(names("2026-11-22T12:00:00Z", "2026-11-22T11:00:00Z")).toEqual(["dev-2026-11-22.log"]);
});

test("logFilesBetween returns null for an invalid agent name, a very long run or an invalid time", () => {
  expect(logFilesBetween("../dev", 0, 1)).toBeNull();
  expect(logFilesBetween("dev", at("2026-01-01T00:00:00Z"), at("2026-11-01T00:00:00Z"))).toBeNull();
  expect(logFilesBetween("dev", 0, Number.NaN)).toBeNull();
});

const latest = async (project: string, count = 20): Promise<string[]> =>
  (await latestEntries(project, count)).map(({ msg }) => msg);

const stamped = (time: number, agent = "dev") => entry(String(time), { time: noon + time, agent });

test("the last lines of all agents and the scheduler come oldest first, over days", async () => {
  const project = tempProject();
  writeLines(logPath(project, "dev", "2026-11-20"), [stamped(1), stamped(3)]);
  writeLines(logPath(project, "ops", "2026-11-20"), [stamped(2, "ops")]);
  writeLines(logPath(project, "dev"), [stamped(4), stamped(7)]);
  writeLines(logPath(project, "scheduler"), [stamped(6, "scheduler")]);
  writeLines(logPath(project, "ops"), [stamped(5, "ops"), stamped(8, "ops")]);
  expect(await latest(project)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
  expect(await latest(project, 5)).toEqual(["4", "5", "6", "7", "8"]);
  const [last] = await latestEntries(project, 1);
  expect(last).toEqual(stamped(8, "ops"));
});

test("the log reader skips broken lines, unreadable files and files that are not logs", async () => {
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

test("reading the last N lines opens at most N log files, the last written first", async () => {
  const project = tempProject();
  for (const [i, agent] of ["a", "b", "c", "d"].entries()) {
    writeLines(logPath(project, agent), [stamped(10 - i, agent)]);
    utimesSync(logPath(project, agent), noon / 1000 + i, noon / 1000 + i);
  }
  expect(await latest(project, 2)).toEqual(["7", "8"]);
});

test("log files of a copied project are ordered by day, not by modification time", async () => {
  const project = tempProject();
  for (const day of [21, 19, 20]) {
    writeLines(logPath(project, "dev", `2026-11-${day}`), [stamped(day)]);
  }
  expect(await latest(project)).toEqual(["19", "20", "21"]);
  expect(await latest(project, 2)).toEqual(["20", "21"]);
});
