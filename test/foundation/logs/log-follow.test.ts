import { appendFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { follow, line, range, sourceOf } from "./follow.ts";
import { openLogs } from "./open-logs.ts";
import { logPath, tempProject, writeLines } from "./support.ts";

test("a line that another process writes arrives within 500 ms", async () => {
  const project = tempProject();
  writeLines(
    logPath(project),
    range(0, 10).map((n) => line(n)),
  );
  const { messages } = follow(sourceOf(project), { lines: 3 });
  await expect.poll(messages).toEqual(["7", "8", "9"]);
  const delays: number[] = [];
  for (const n of range(10, 15)) {
    const writtenAt = performance.now();
    appendFileSync(logPath(project), line(n));
    await expect.poll(messages, { interval: 5 }).toContain(n);
    delays.push(performance.now() - writtenAt);
  }
  // Of five lines, not all meet a machine that has other work.
  expect(Math.min(...delays)).toBeLessThan(500);
  expect(messages()).toEqual(range(7, 15));
});

test("neither directory nor file need exist yet", async () => {
  const project = tempProject();
  const { messages } = follow(sourceOf(project));
  await sleep(50);
  writeLines(logPath(project), [line("first"), line("second")]);
  await expect.poll(messages).toEqual(["first", "second"]);
});

test("one run's lines are followed among others", async () => {
  const project = tempProject();
  const run = (instanceId: string, msg: string) => line(msg, { instanceId });
  writeLines(logPath(project), [run("dev-aaaaaaaa", "1"), run("dev-bbbbbbbb", "x")]);
  const { messages } = follow(sourceOf(project), { agent: null, instanceId: "dev-aaaaaaaa" });
  await expect.poll(messages).toEqual(["1"]);
  appendFileSync(logPath(project), run("dev-bbbbbbbb", "y") + run("dev-aaaaaaaa", "2"));
  await expect.poll(messages).toEqual(["1", "2"]);
});

test("a name that is not an agent's reaches no file outside the logs", async () => {
  const project = tempProject();
  writeLines(`${project}/evil-2026-11-21.log`, [line("secret")]);
  writeLines(logPath(project), []);
  const { messages } = follow(sourceOf(project), { agent: "../../evil" });
  await sleep(50);
  appendFileSync(`${project}/evil-2026-11-21.log`, line("secret"));
  await sleep(700);
  expect(messages()).toEqual([]);
});

test("half a line is shown once it is complete", async () => {
  const project = tempProject();
  const [begin, end] = [line("whole").slice(0, 30), line("whole").slice(30)];
  writeLines(logPath(project), [line("before"), begin]);
  const { messages } = follow(sourceOf(project));
  await expect.poll(messages).toEqual(["before"]);
  appendFileSync(logPath(project), end.slice(0, 5));
  await sleep(100);
  appendFileSync(logPath(project), end.slice(5) + line("after"));
  await expect.poll(messages).toEqual(["before", "whole", "after"]);
});

test("text that is not ASCII, cut anywhere, arrives whole", async () => {
  const project = tempProject();
  writeLines(logPath(project), []);
  const { messages } = follow(sourceOf(project));
  const text = "gr\u00fc\u00dfe \u{1f600} ".repeat(3_000);
  const bytes = Buffer.from(line(text));
  for (let at = 0; at < bytes.length; at += 7_001) {
    appendFileSync(logPath(project), bytes.subarray(at, at + 7_001));
    await sleep(5);
  }
  await expect.poll(() => messages().map((msg) => msg === text)).toEqual([true]);
});

test.each([
  ["deleted", (path: string) => rmSync(path)],
  ["moved away", (path: string) => renameSync(path, `${path}.1`)],
  ["emptied", (path: string) => truncateSync(path)],
])("a file that is %s and written again is read from its start", async (_what, harm) => {
  const project = tempProject();
  const path = logPath(project);
  writeLines(path, [line("one, which is rather long"), line("two, which is rather long")]);
  const { messages } = follow(sourceOf(project), { lines: 1 });
  await expect.poll(messages).toHaveLength(1);
  appendFileSync(path, line("three"));
  await expect.poll(messages).toHaveLength(2);
  harm(path);
  await sleep(700);
  writeLines(path, [line("four"), line("five")]);
  await expect.poll(messages).toHaveLength(4);
  expect(messages().slice(1)).toEqual(["three", "four", "five"]);
});

test("a line of 50 MB is skipped, and later lines are not", async () => {
  const project = tempProject();
  writeLines(logPath(project), [line("before")]);
  const { messages } = follow(sourceOf(project));
  await expect.poll(messages).toEqual(["before"]);
  const before = process.memoryUsage().rss;
  // At once, so that it is read at once; then another in pieces, read while it grows.
  appendFileSync(logPath(project), `${"x".repeat(50_000_000)}\n${line("between")}`);
  await expect.poll(messages, { timeout: 15_000 }).toContain("between");
  for (let i = 0; i < 50; i++) {
    appendFileSync(logPath(project), Buffer.alloc(1_000_000, "x"));
    await sleep(2);
  }
  appendFileSync(logPath(project), `\n${line("after")}`);
  await expect.poll(messages, { timeout: 15_000 }).toContain("after");
  expect(messages()).toEqual(["before", "between", "after"]);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
});

test("a short follow leaves no file open", async () => {
  const project = tempProject();
  writeLines(logPath(project), [line("0")]);
  const source = sourceOf(project);
  for (let i = 0; i < 200; i++) {
    const { stop } = follow(source);
    if (i % 4 > 0) await sleep(i % 4);
    appendFileSync(logPath(project), line("x"));
    if (i % 3 > 0) await sleep(i % 3);
    stop();
  }
  await expect.poll(() => openLogs(project)).toEqual([]);
});

test("followers keep no log file open, however many there are", async () => {
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
