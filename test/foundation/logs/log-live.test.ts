import { appendFileSync } from "node:fs";
import { pause } from "../../helpers/pause.ts";
import { follow, line, losses, range, sourceOf, unchecked } from "./follow.ts";
import { entry, logPath, tempProject, tempWriter, writeLines } from "./support.ts";

test.each([
  ["with checks of the files", { checkEveryMs: 20 }],
  ["without checks of the files", unchecked],
])(
  "following a live log loses and repeats no line in any order of reading and writing, %s",
  async (_how, pace) => {
    const project = tempProject();
    const writer = tempWriter(project);
    const source = sourceOf(project, { ...pace, appended$: writer.appended$ });
    const total = 3_000;
    const followers: ReturnType<typeof follow>[] = [];
    for (let n = 0; n < total; n++) {
      writer.write(entry(`${n}`));
      if (n % 150 === 75) followers.push(follow(source, { lines: 10_000 }));
      if (n % 10 === 0) await new Promise(setImmediate);
    }
    for (const { messages } of followers) {
      await expect.poll(() => messages().length).toBe(total);
      expect(messages()).toEqual(range(0, total));
    }
    expect(followers).toHaveLength(20);
  },
);

test("followed log lines keep their order over midnight", async () => {
  const project = tempProject();
  let now = Date.UTC(2026, 10, 21, 23, 59, 59);
  const writer = tempWriter(project, { now: () => now });
  const { appended$ } = writer;
  const source = sourceOf(project, { ...unchecked, now: () => now, appended$ });
  // A late follower begins with the lines that are written already.
  const { messages } = follow(source, { lines: 200 });
  for (let n = 0; n < 200; n++) {
    writer.write(entry(`${n}`));
    if (n % 20 === 0) await writer.flush();
    // Lines of both days wait for the same turn.
    if (n === 110) now = Date.UTC(2026, 10, 22);
  }
  await expect.poll(messages).toHaveLength(200);
  expect(messages()).toEqual(range(0, 200));
});

test("following all logs includes agents that appear later", async () => {
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

test("followed log lines of the scheduler and of another process come in the file's order, each once", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const source = sourceOf(project, { appended$: writer.appended$ });
  const { messages } = follow(source, { lines: 1_000 });
  writeLines(logPath(project), []);
  for (let n = 0; n < 300; n++) {
    if (n % 3 === 0) appendFileSync(logPath(project), line(`${n}`));
    else writer.write(entry(`${n}`));
    await writer.flush();
  }
  await expect.poll(messages).toHaveLength(300);
  expect(messages()).toEqual(range(0, 300));
});

test.each(losses)(
  "log lines written after the file was %s reach the follower once, in order",
  async (_what, harm) => {
    const project = tempProject();
    const writer = tempWriter(project);
    const { messages } = follow(sourceOf(project, { appended$: writer.appended$ }));
    for (const n of range(0, 20)) writer.write(entry(n));
    await expect.poll(messages).toHaveLength(20);
    harm(logPath(project));
    await pause(100, "a check of the files notices that it is gone");
    for (const n of range(20, 60)) {
      writer.write(entry(n));
      await new Promise(setImmediate);
    }
    await expect.poll(messages).toHaveLength(60);
    expect(messages()).toEqual(range(0, 60));
  },
);

test("a log follower that reconnects resumes after its last line without gaps or repeats", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const source = sourceOf(project, { appended$: writer.appended$ });
  const got: string[] = [];
  let after: string | null = null;
  let written = 0;
  for (let visit = 0; visit < 15; visit++) {
    const visitor = follow(source, { after, lines: 10_000 });
    for (let i = 0; i < 40; i++) writer.write(entry(`${written++}`));
    await pause(visit * 5, "a visit ends before, in and after its reads");
    visitor.stop();
    got.push(...visitor.messages());
    after = visitor.lines.at(-1)?.id ?? after;
    for (let i = 0; i < 7; i++) writer.write(entry(`${written++}`));
  }
  const last = follow(source, { after, lines: 10_000 });
  await expect.poll(() => got.length + last.messages().length).toBe(written);
  expect([...got, ...last.messages()]).toEqual(range(0, written));
});
