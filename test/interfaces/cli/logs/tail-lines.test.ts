import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tailLines } from "../../../../src/interfaces/cli/logs/tail-lines.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = tempDir();
  path = join(folder, "dev.log");
});

function follow(start = 0, isOver = () => false) {
  const lines = tailLines(path, start, isOver);
  return {
    next: async () => (await lines.next()).value as string | undefined,
    end: () => lines.return(undefined),
  };
}

/** Paths of the folder that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return [];
    }
  });
}

test("yields the lines after an offset, then new ones as they are appended", async () => {
  writeFileSync(path, "ü one\ntwo\n");
  const tail = follow(Buffer.byteLength("ü one\n"));
  expect(await tail.next()).toBe("two");
  appendFileSync(path, "three\nfour\n");
  expect(await tail.next()).toBe("three");
  expect(await tail.next()).toBe("four");
  await tail.end();
});

test("a line without an end takes bounded memory, and the next line is whole", async () => {
  writeFileSync(path, "");
  const tail = follow();
  const next = tail.next();
  const piece = "x".repeat(1024 * 1024);
  for (let count = 0; count < 64; count++) appendFileSync(path, piece);
  appendFileSync(path, "y\nafter\n");
  expect((await next)?.length).toBeLessThan(128 * 1024);
  expect(await tail.next()).toBe("after");
  await tail.end();
});

test("a character across two reads is not broken", async () => {
  writeFileSync(path, `${"a\n".repeat(32_767)}b状態 ✓\n`);
  const tail = follow();
  for (let count = 0; count < 32_767; count++) await tail.next();
  expect(await tail.next()).toBe("b状態 ✓");
  await tail.end();
});

test("a truncated file is read from its start", async () => {
  writeFileSync(path, "one\ntwo\nthree\n");
  const tail = follow(4);
  expect([await tail.next(), await tail.next()]).toEqual(["two", "three"]);
  const next = tail.next();
  truncateSync(path);
  appendFileSync(path, "new\n");
  expect(await next).toBe("new");
  await tail.end();
});

test("a missing folder and file are waited for", async () => {
  path = join(folder, "logs/dev.log");
  const tail = follow();
  const next = tail.next();
  mkdirSync(join(folder, "logs"));
  writeFileSync(path, "first\n");
  expect(await next).toBe("first");
  await tail.end();
});

test("a stop right after the start leaves no file open", async () => {
  writeFileSync(path, "one\n");
  for (let count = 0; count < 5; count++) {
    const tail = follow();
    await tail.next();
    await tail.end();
  }
  await expect.poll(openFiles).toEqual([]);
});

test("tailLines ends after the last line once the run has ended, even if its file never appears", async () => {
  writeFileSync(path, "last\n");
  const tail = follow(0, () => true);
  expect([await tail.next(), await tail.next()]).toEqual(["last", undefined]);
  renameSync(path, `${path}.1`);
  expect(await follow(0, () => true).next()).toBeUndefined();
});
