import { appendFileSync, truncateSync } from "node:fs";
import { pause } from "../../helpers/pause.ts";
import { follow, line, losses, sourceOf } from "./follow.ts";
import { openLogs } from "./open-logs.ts";
import { logPath, tempProject, writeLines } from "./support.ts";

test("a log can be followed before its directory and its file exist", async () => {
  const project = tempProject();
  const { messages } = follow(sourceOf(project));
  await pause(50, "the follower looks before there is a directory");
  writeLines(logPath(project), [line("first"), line("second")]);
  await expect.poll(messages).toEqual(["first", "second"]);
});

test("following a log can be limited to one run's lines", async () => {
  const project = tempProject();
  const run = (instanceId: string, msg: string) => line(msg, { instanceId });
  writeLines(logPath(project), [run("dev-aaaaaaaa", "1"), run("dev-bbbbbbbb", "x")]);
  const { messages } = follow(sourceOf(project), { agent: null, instanceId: "dev-aaaaaaaa" });
  await expect.poll(messages).toEqual(["1"]);
  appendFileSync(logPath(project), run("dev-bbbbbbbb", "y") + run("dev-aaaaaaaa", "2"));
  await expect.poll(messages).toEqual(["1", "2"]);
});

test("following a log by an invalid agent name opens no file outside the log directory", async () => {
  const project = tempProject();
  writeLines(`${project}/evil-2026-11-21.log`, [line("secret")]);
  writeLines(logPath(project), []);
  const { messages } = follow(sourceOf(project), { agent: "../../evil" });
  appendFileSync(`${project}/evil-2026-11-21.log`, line("secret"));
  await pause(200, "no line may come, however often the files are checked");
  expect(messages()).toEqual([]);
});

test("an incomplete log line is shown to followers once it is complete", async () => {
  const project = tempProject();
  const [begin, end] = [line("whole").slice(0, 30), line("whole").slice(30)];
  writeLines(logPath(project), [line("before"), begin]);
  const { messages } = follow(sourceOf(project));
  await expect.poll(messages).toEqual(["before"]);
  appendFileSync(logPath(project), end.slice(0, 5));
  await pause(100, "the follower sees half a line");
  appendFileSync(logPath(project), end.slice(5) + line("after"));
  await expect.poll(messages).toEqual(["before", "whole", "after"]);
});

test("followers of a log receive non-ASCII text intact, wherever writes cut it", async () => {
  const project = tempProject();
  writeLines(logPath(project), []);
  const { messages } = follow(sourceOf(project));
  const text = "gr\u00fc\u00dfe \u{1f600} ".repeat(3_000);
  const bytes = Buffer.from(line(text));
  for (let at = 0; at < bytes.length; at += 7_001) {
    appendFileSync(logPath(project), bytes.subarray(at, at + 7_001));
    await pause(5, "the follower reads between two pieces");
  }
  await expect.poll(() => messages().map((msg) => msg === text)).toEqual([true]);
});

test.each([...losses, ["emptied", (path: string) => truncateSync(path)] as const])(
  "a followed log file that is %s and written again is read from its start",
  async (_what, harm) => {
    const project = tempProject();
    const path = logPath(project);
    writeLines(path, [line("one, which is rather long"), line("two, which is rather long")]);
    const { messages } = follow(sourceOf(project), { lines: 1 });
    await expect.poll(messages).toHaveLength(1);
    appendFileSync(path, line("three"));
    await expect.poll(messages).toHaveLength(2);
    harm(path);
    await pause(100, "a check sees what became of the file");
    writeLines(path, [line("four"), line("five")]);
    await expect.poll(messages).toHaveLength(4);
    expect(messages().slice(1)).toEqual(["three", "four", "five"]);
  },
);

test("following a log for a short time leaves no file open", async () => {
  const project = tempProject();
  writeLines(logPath(project), [line("0")]);
  const source = sourceOf(project);
  for (let i = 0; i < 60; i++) {
    const { stop } = follow(source);
    await pause(i % 4, "follows end at any moment of a read");
    appendFileSync(logPath(project), line("x"));
    await pause(i % 3, "follows end at any moment of a read");
    stop();
  }
  await expect.poll(() => openLogs(project)).toEqual([]);
});

test("any number of followers keep no log file open", async () => {
  const project = tempProject();
  writeLines(logPath(project), [line("0")]);
  const source = sourceOf(project);
  const followers = Array.from({ length: 50 }, () => follow(source));
  for (const { messages } of followers) await expect.poll(messages).toEqual(["0"]);
  await expect.poll(() => openLogs(project)).toHaveLength(0);
  appendFileSync(logPath(project), line("1"));
  for (const { messages } of followers) await expect.poll(messages).toEqual(["0", "1"]);
  await expect.poll(() => openLogs(project)).toHaveLength(0);
});
