import fc from "fast-check";
import { formatLine, maxLineBytes } from "../../../src/foundation/logs/line-queue.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { entry, logPath, noon, tempProject, tempWriter } from "./support.ts";
import { openLogs } from "./open-logs.ts";
import { readdirSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";

const messages = (path: string): string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as LogEntry).msg);

test("each agent and the scheduler have a private log file per UTC day", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  for (const agent of ["dev", "ops-2026-01-01", "scheduler"]) writer.write(entry("x", { agent }));
  await writer.flush();
  expect(readdirSync(join(project, ".al/logs")).sort()).toEqual([
    "dev-2026-11-21.log",
    "ops-2026-01-01-2026-11-21.log",
    "scheduler-2026-11-21.log",
  ]);
  expect(statSync(logPath(project)).mode & 0o777).toBe(0o600);
  expect(statSync(join(project, ".al/logs")).mode & 0o777).toBe(0o700);
});

test("lines of an agent whose name is not a valid file name go to the scheduler's log", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  writer.write(entry("x", { agent: "../../evil" }));
  await writer.flush();
  expect(messages(logPath(project, "scheduler"))).toEqual(["x"]);
});

test("grown$ emits each log file with new lines once per turn of the event loop", async () => {
  const writer = tempWriter(tempProject());
  const names: string[] = [];
  writer.grown$.subscribe((name) => names.push(name));
  for (const agent of ["dev", "dev", "ops"]) writer.write(entry("x", { agent }));
  await writer.flush();
  expect(names).toEqual(["dev-2026-11-21.log", "ops-2026-11-21.log"]);
});

test("log lines keep their order through thousands of writes", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const sent = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
  for (const [i, msg] of sent.entries()) {
    writer.write(entry(msg));
    if (i % 1_000 === 0) await new Promise(setImmediate);
  }
  await writer.flush();
  expect(messages(logPath(project))).toEqual(sent);
});

test("an incomplete log line that a crash left is ended before the next line", async () => {
  const project = tempProject();
  mkdirSync(join(project, ".al/logs"), { recursive: true });
  writeFileSync(logPath(project), '{"level":30,"msg":"half');
  const writer = tempWriter(project);
  writer.write(entry("whole"));
  await writer.flush();
  const lines = readFileSync(logPath(project), "utf8").split("\n");
  expect(lines[0]).toBe('{"level":30,"msg":"half');
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ msg: "whole" });
});

test("the logs of a thousand agents keep no file open", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1_000; i++) writer.write(entry(`round ${round}`, { agent: `a${i}` }));
    await writer.flush();
    expect(openLogs(project)).toEqual([]);
  }
  expect(messages(logPath(project, "a999"))).toEqual(["round 0", "round 1"]);
});

/** A file stands where the directory of logs should be: every append fails, for root too. */
function failingProject(): string {
  const project = tempProject();
  mkdirSync(join(project, ".al"));
  writeFileSync(join(project, ".al/logs"), "");
  return project;
}

test("log lines wait while the disk fails, and are written when it works again", async () => {
  const project = failingProject();
  const writer = tempWriter(project);
  for (let i = 0; i < 100; i++) {
    writer.write(entry(`line ${i}`));
    if (i % 10 === 0) await writer.flush();
  }
  expect(writer.problems).toHaveLength(1);
  rmSync(join(project, ".al/logs"));
  await expect.poll(() => readdirSync(join(project, ".al"))).toContain("logs");
  await writer.flush();
  expect(messages(logPath(project))).toEqual(Array.from({ length: 100 }, (_, i) => `line ${i}`));
});

test("log lines that don't fit in memory are dropped, and a later line says how many", async () => {
  const project = failingProject();
  const writer = tempWriter(project, { maxWaitingBytes: 10_000 });
  for (let i = 0; i < 40; i++) writer.write(entry(`line ${i}`));
  expect(writer.isBehind()).toBe(false);
  for (let i = 40; i < 1_000; i++) writer.write(entry(`line ${i}`));
  expect(writer.isBehind()).toBe(true);
  expect(await writer.flush()).toBe(false);
  rmSync(join(project, ".al/logs"));
  expect(await writer.flush()).toBe(true);
  expect(writer.isBehind()).toBe(false);
  // The line about them follows the lines that were not.
  await writer.flush();
  const written = messages(logPath(project));
  const kept = written.length - 1;
  expect(kept).toBeGreaterThan(50);
  expect(written.slice(0, -1)).toEqual(Array.from({ length: kept }, (_, i) => `line ${i}`));
  expect(written.at(-1)).toBe(`${1_000 - kept} log lines were dropped here: the disk was too slow`);
});

test("flushing the log reports whether all earlier lines are written, even if new lines arrive meanwhile", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  expect(await writer.flush()).toBe(true);
  // More than one append takes, and more with each turn.
  for (let i = 0; i < 3_000; i++) writer.write(entry(`${i} ${"x".repeat(1_000)}`));
  const flood = setInterval(() => writer.write(entry("y".repeat(500_000), { agent: "ops" })), 1);
  try {
    expect(await writer.flush()).toBe(true);
    expect(messages(logPath(project))).toHaveLength(3_000);
  } finally {
    clearInterval(flood);
  }
});

test("flushing the log reports a single file that fails", async () => {
  const project = tempProject();
  mkdirSync(logPath(project, "ops"), { recursive: true });
  const writer = tempWriter(project);
  writer.write(entry("x"));
  expect(await writer.flush()).toBe(true);
  writer.write(entry("x", { agent: "ops" }));
  expect(await writer.flush()).toBe(false);
  writer.write(entry("y"));
  expect(await writer.flush()).toBe(false);
  expect(messages(logPath(project))).toEqual(["x", "y"]);
  rmSync(logPath(project, "ops"), { recursive: true });
  expect(await writer.flush()).toBe(true);
  expect(messages(logPath(project, "ops"))).toEqual(["x"]);
});

test("log lines written while the disk is full are complete once there is space", async ({
  skip,
}) => {
  const project = tempProject();
  const logs = join(project, ".al/logs");
  mkdirSync(logs, { recursive: true });
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", logs]).status !== 0) {
    skip("mounting a small tmpfs needs root");
  }
  onTestFinished(() => void spawnSync("umount", ["-l", logs]));
  writeFileSync(join(logs, "ballast"), Buffer.alloc(200_000));
  const writer = tempWriter(project);
  const sent = Array.from({ length: 100 }, (_, i) => `${i} ${"x".repeat(1_000)}`);
  for (const msg of sent) writer.write(entry(msg));
  await writer.flush();
  expect(writer.problems[0]).toContain("ENOSPC");
  rmSync(join(logs, "ballast"));
  await writer.flush();
  const text = readFileSync(logPath(project), "utf8");
  const whole = text.split("\n").filter((line) => line.endsWith("}"));
  expect(whole.map((line) => (JSON.parse(line) as LogEntry).msg)).toEqual(sent);
});

test("a log line has the format of the logger pino, as one line of ASCII", () => {
  const line = formatLine(
    entry("gr\u00fc\u00dfe \u{1f600}\n\u2028", { instanceId: "dev-1", tool: "bash", n: 1 }),
  );
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  const head = { level: 30, time: noon, agent: "dev", instanceId: "dev-1" };
  const msg = "gr\u00fc\u00dfe \u{1f600}\n\u2028";
  expect(JSON.parse(line)).toEqual({ ...head, tool: "bash", n: 1, msg });
});

test("a long value in a log line is cut and marked", () => {
  const line = formatLine(entry("m".repeat(500_000), { output: "o".repeat(90_000), exit: 3 }));
  expect(line.length).toBeLessThanOrEqual(maxLineBytes);
  const parsed = JSON.parse(line) as LogEntry;
  expect(parsed).toMatchObject({ truncated: true, exit: 3 });
  expect(parsed.msg).toMatch(/^m+… \(cut, 500000 characters\)$/);
  expect(parsed.output).toMatch(/^o+… \(cut, 90000 characters\)$/);
});

test("fields of a log line that are too long even when cut are dropped, and the message is kept", () => {
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`field${i}`, i]));
  const line = formatLine(entry("hello", many));
  expect(JSON.parse(line)).toMatchObject({ msg: "hello", agent: "dev", truncated: true });
  expect(line.length).toBeLessThan(1_000);
});

test("formatLine replaces fields that JSON cannot hold with fieldsError", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(JSON.parse(formatLine(entry("x", { circle })))).toHaveProperty("fieldsError");
  expect(JSON.parse(formatLine(entry("x", { big: 1n })))).toHaveProperty("fieldsError");
});

test("any log entry becomes one short line of valid JSON", () =>
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 9_000 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (msg, field) => {
        const line = formatLine(entry(msg, { field }));
        expect(line.length).toBeLessThanOrEqual(maxLineBytes);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toHaveProperty("msg");
      },
    ),
    { numRuns: 30 },
  ));
