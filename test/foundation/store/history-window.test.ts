import { expect, test } from "vitest";
import { bucketMs, windowAfter, windowAt } from "../../../src/foundation/store/history-window.ts";

const counts = [
  { bucket: 9, n: 10 },
  { bucket: 7, n: 1 },
  { bucket: 3, n: 100 },
];
const at = (bucket: number): number => bucket * bucketMs;

test("a page lies in the buckets that hold it, and only its first one is walked", () => {
  expect(windowAt(counts, 0, 5)).toEqual({ from: at(9), to: at(10), skip: 0 });
  expect(windowAt(counts, 8, 3)).toEqual({ from: at(7), to: at(10), skip: 8 });
  expect(windowAt(counts, 8, 4)).toEqual({ from: at(3), to: at(10), skip: 8 });
  expect(windowAt(counts, 10, 1)).toEqual({ from: at(7), to: at(8), skip: 0 });
  expect(windowAt(counts, 110, 50)).toEqual({ from: at(3), to: at(4), skip: 99 });
});

test("past the end there is none", () => {
  expect(windowAt(counts, 111, 1)).toBeNull();
  expect(windowAt([], 0, 1)).toBeNull();
});

test("after a cursor, its own bucket may hold nothing that is older", () => {
  const cursor = { at: at(7) + 5, seq: 1 };
  expect(windowAfter(counts, cursor, 2)).toEqual({ from: at(3), to: cursor.at + 1, skip: 0 });
  const between = { at: at(8), seq: 1 };
  expect(windowAfter(counts, between, 1)).toEqual({ from: at(7), to: at(8) + 1, skip: 0 });
  const oldest = { at: at(3) + 5, seq: 1 };
  expect(windowAfter(counts, oldest, 2)).toEqual({ from: at(3), to: oldest.at + 1, skip: 0 });
});
