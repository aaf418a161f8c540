import { appendFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { devQuery, follow, line, range, sourceOf, unchecked } from "./follow.ts";
import { dayMs, entry, logPath, noon, tempProject, tempWriter, writeLines } from "./support.ts";

test("a line reaches its follower as it is written, with the position after it", async () => {
  const project = tempProject();
  writeLines(
    logPath(project),
    range(0, 10).map((n) => line(n)),
  );
  const writer = tempWriter(project);
  const { appended$ } = writer;
  const { lines, messages } = follow(sourceOf(project, { ...unchecked, appended$ }), { lines: 3 });
  await expect.poll(messages).toEqual(["7", "8", "9"]);
  for (const n of range(10, 15)) {
    writer.write(entry(n));
    await writer.flush();
    expect(messages()).toContain(n);
  }
  expect(messages()).toEqual(range(7, 15));
  const written = await sourceOf(project).read({ ...devQuery, lines: 8 });
  expect(lines).toEqual(written);
});

test.each([
  ["with checks of the files", { checkEveryMs: 20 }],
  ["without", unchecked],
])("nothing is lost or repeated in any order of reading and writing, %s", async (_how, pace) => {
  const project = tempProject();
  const writer = tempWriter(project);
  const source = sourceOf(project, { ...pace, appended$: writer.appended$ });
  const total = 3_000;
  const followers: ReturnType<typeof follow>[] = [];
  for (let n = 0; n < total; n++) {
    writer.write(entry(`${n}`));
    if (n % 150 === 75) followers.push(follow(source, { lines: 10_000 }));
    if (n % 10 === 0) await sleep(0);
  }
  for (const { messages } of followers) {
    await expect.poll(() => messages().length, { timeout: 10_000 }).toBe(total);
    expect(messages()).toEqual(range(0, total));
  }
  expect(followers).toHaveLength(20);
});

test("a reader that returns on another day gets all lines in between", async () => {
  const project = tempProject();
  let now = noon;
  const writer = tempWriter(project, { now: () => now });
  const source = sourceOf(project, { now: () => now, appended$: writer.appended$ });
  const first = follow(source);
  for (let n = 0; n < 90; n++) {
    if (n % 30 === 29) now += dayMs;
    writer.write(entry(`${n}`));
    if (n === 5) {
      await writer.flush();
      await expect.poll(first.messages, { timeout: 1_500 }).toEqual(range(0, 6));
      first.stop();
    }
  }
  await writer.flush();
  const { messages } = follow(source, { after: first.lines.at(-1)?.id ?? null });
  await expect.poll(messages).toEqual(range(6, 90));
});

test("lines keep their order over midnight", async () => {
  const project = tempProject();
  let now = Date.UTC(2026, 10, 21, 23, 59, 59);
  const writer = tempWriter(project, { now: () => now });
  const { appended$ } = writer;
  const source = sourceOf(project, { ...unchecked, now: () => now, appended$ });
  // A late follower begins with the lines that are written already.
  const { messages } = follow(source, { lines: 200 });
  for (let n = 0; n < 200; n++) {
    writer.write(entry(`${n}`));
    if (n % 20 === 0) await sleep(10);
    // Lines of both days wait for the same turn.
    if (n === 110) now = Date.UTC(2026, 10, 22);
  }
  await expect.poll(messages).toHaveLength(200);
  expect(messages()).toEqual(range(0, 200));
});

test("all agents are followed together, later ones too", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  writer.write(entry("old", { agent: "ops" }));
  await writer.flush();
  const { appended$ } = writer;
  const { messages } = follow(sourceOf(project, { ...unchecked, appended$ }), { agent: null });
  await expect.poll(messages).toEqual(["old"]);
  const sent: string[] = [];
  for (const agent of ["dev", "ops", "new-one", "scheduler", "dev", "new-two"]) {
    const msg = `${agent} ${sent.length}`;
    sent.push(msg);
    writer.write(entry(msg, { agent }));
    await expect.poll(messages, { interval: 5 }).toContain(msg);
  }
  expect(messages()).toEqual(["old", ...sent]);
});

test("lines of the writer and of another process come in the file's order, each once", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const source = sourceOf(project, { appended$: writer.appended$ });
  const { messages } = follow(source, { lines: 1_000 });
  writeLines(logPath(project), []);
  for (let n = 0; n < 300; n++) {
    if (n % 3 === 0) appendFileSync(logPath(project), line(`${n}`));
    else writer.write(entry(`${n}`));
    await writer.flush();
    if (n % 50 === 0) await sleep(20);
  }
  await expect.poll(messages).toHaveLength(300);
  expect(messages()).toEqual(range(0, 300));
});

test.each([
  ["deleted", (path: string) => rmSync(path)],
  ["moved away", (path: string) => renameSync(path, `${path}.1`)],
])("lines written after the file was %s come once, in order", async (_what, harm) => {
  const project = tempProject();
  const writer = tempWriter(project);
  const { messages } = follow(sourceOf(project, { appended$: writer.appended$ }));
  for (const n of range(0, 20)) writer.write(entry(n));
  await expect.poll(messages).toHaveLength(20);
  harm(logPath(project));
  // A check of the files notices that it is gone.
  await sleep(300);
  for (const n of range(20, 60)) {
    writer.write(entry(n));
    await sleep(2);
  }
  await expect.poll(messages).toHaveLength(60);
  expect(messages()).toEqual(range(0, 60));
});

test("lines that wait for a failing disk come once they are written", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const { messages } = follow(sourceOf(project, { ...unchecked, appended$: writer.appended$ }));
  writer.write(entry("0"));
  await expect.poll(messages).toEqual(["0"]);
  const logs = join(project, ".al/logs");
  renameSync(logs, `${logs}.away`);
  // A file where the directory should be: every append fails, for root too.
  appendFileSync(logs, "");
  for (const n of range(1, 20)) writer.write(entry(n));
  await writer.flush();
  expect(messages()).toEqual(["0"]);
  expect(writer.problems).toHaveLength(1);
  rmSync(logs);
  renameSync(`${logs}.away`, logs);
  await expect.poll(messages).toHaveLength(20);
  expect(messages()).toEqual(range(0, 20));
});

test("a reader that reconnects resumes after its last line without a gap or a repeat", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const source = sourceOf(project, { appended$: writer.appended$ });
  const got: string[] = [];
  let after: string | null = null;
  let written = 0;
  for (let visit = 0; visit < 15; visit++) {
    const visitor = follow(source, { after, lines: 10_000 });
    for (let i = 0; i < 40; i++) writer.write(entry(`${written++}`));
    await sleep(visit * 5);
    visitor.stop();
    got.push(...visitor.messages());
    after = visitor.lines.at(-1)?.id ?? after;
    for (let i = 0; i < 7; i++) writer.write(entry(`${written++}`));
  }
  const last = follow(source, { after, lines: 10_000 });
  await expect.poll(() => got.length + last.messages().length).toBe(written);
  expect([...got, ...last.messages()]).toEqual(range(0, written));
});
