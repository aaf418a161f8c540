import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { tailLines } from "../../../../src/interfaces/cli/logs/tail-lines.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

let path: string;
beforeEach(() => void (path = join(tempDir(), "dev.log")));

/** Follows the file; a test that ends stops it. */
function follow(start = 0, isOver = () => false) {
  const lines = tailLines(path, start, isOver);
  const end = () => lines.return(undefined);
  onTestFinished(() => void end());
  return { next: async () => (await lines.next()).value as string | undefined, end };
}

/** Whether this process has the file open. */
function isOpen(): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}

describe("tailLines", () => {
  test("yields the lines after an offset, then new ones as they are appended", async () => {
    writeFileSync(path, "ü one\ntwo\n");
    const { next } = follow(Buffer.byteLength("ü one\n"));
    expect(await next()).toBe("two");
    appendFileSync(path, "three\nfour\n");
    expect([await next(), await next()]).toEqual(["three", "four"]);
  });

  test("skips an endless line in bounded memory, and yields the next line", async () => {
    writeFileSync(path, "");
    const { next } = follow();
    const long = next();
    const piece = "x".repeat(1024 * 1024);
    for (let count = 0; count < 64; count++) appendFileSync(path, piece);
    appendFileSync(path, "y\nafter\n");
    expect((await long)?.length).toBeLessThan(128 * 1024);
    expect(await next()).toBe("after");
  });

  test("keeps a character that is split over two reads", async () => {
    writeFileSync(path, `${"a\n".repeat(32_767)}b状態 ✓\n`);
    const { next } = follow();
    for (let count = 0; count < 32_767; count++) await next();
    expect(await next()).toBe("b状態 ✓");
  });

  test("reads a truncated file from its start", async () => {
    writeFileSync(path, "one\ntwo\nthree\n");
    const { next } = follow(4);
    expect([await next(), await next()]).toEqual(["two", "three"]);
    const fresh = next();
    truncateSync(path);
    appendFileSync(path, "new\n");
    expect(await fresh).toBe("new");
  });

  test("waits for a missing folder and file", async () => {
    path = join(dirname(path), "logs/dev.log");
    const first = follow().next();
    mkdirSync(dirname(path));
    writeFileSync(path, "first\n");
    expect(await first).toBe("first");
  });

  test("leaves no file open when it is stopped", async () => {
    writeFileSync(path, "one\n");
    const { next, end } = follow();
    await next();
    await end();
    await expect.poll(isOpen).toBe(false);
  });

  test("ends after the last line once the run has ended, even if its file never appears", async () => {
    writeFileSync(path, "last\n");
    const { next } = follow(0, () => true);
    expect([await next(), await next()]).toEqual(["last", undefined]);
    renameSync(path, `${path}.1`);
    expect(await follow(0, () => true).next()).toBeUndefined();
  });
});
