import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readBackward, readForward } from "../../../src/foundation/logs/read-lines.ts";
import type { RawLine } from "../../../src/foundation/logs/read-lines.ts";
import { tempProject } from "./support.ts";

async function all(lines: AsyncIterable<RawLine>): Promise<RawLine[]> {
  const found: RawLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

/** What the lines of a text are, worked out the simple way. */
function linesOf(text: string): RawLine[] {
  let start = 0;
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const end = start + Buffer.byteLength(line) + 1;
      const raw = { start, end, text: line };
      start = end;
      return raw;
    });
}

test("reading a log file forward and backward returns the same lines", async () => {
  const path = join(tempProject(), "x.log");
  const piece = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 30 }),
    fc.integer({ min: 60_000, max: 140_000 }).map((length) => "x".repeat(length)),
    fc.constant("\n"),
    fc.constant(""),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, ended) => {
      const text = pieces.join("\n") + (ended ? "\n" : "");
      writeFileSync(path, text);
      const size = Buffer.byteLength(text);
      const expected = linesOf(text);
      expect(await all(readForward(path, 0))).toEqual(expected);
      expect((await all(readBackward(path, size))).reverse()).toEqual(expected);
      const middle = expected[Math.floor(expected.length / 2)];
      if (!middle) return;
      expect(await all(readForward(path, middle.start))).toEqual(
        expected.filter(({ start }) => start >= middle.start),
      );
      expect((await all(readBackward(path, middle.end))).reverse()).toEqual(
        expected.filter(({ end }) => end <= middle.end),
      );
    }),
    { numRuns: 60 },
  );
});

test("reading a log file skips a line of 50 MB in little memory", async () => {
  const path = join(tempProject(), "x.log");
  writeFileSync(path, `first\n${"x".repeat(50_000_000)}\nlast\n`);
  const before = process.memoryUsage().rss;
  const forward = await all(readForward(path, 0));
  const backward = await all(readBackward(path, 50_000_012));
  expect(forward.map(({ text }) => text)).toEqual(["first", "last"]);
  expect(backward).toEqual(forward.toReversed());
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test("a missing log file has no lines", async () => {
  expect(await all(readForward("/nowhere/x.log", 0))).toEqual([]);
  expect(await all(readBackward("/nowhere/x.log", 10))).toEqual([]);
});

test("any number of readers that wait at the first line of a log use little memory", async () => {
  const path = join(tempProject(), "x.log");
  writeFileSync(path, "a line\n".repeat(3));
  const before = process.memoryUsage().arrayBuffers;
  const readers = Array.from({ length: 200 }, () => readForward(path, 0));
  for (const reader of readers) await reader.next();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 16 * 1024);
  for (const reader of readers) await reader.return(undefined);
});
