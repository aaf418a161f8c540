import { expect, test } from "vitest";
import { uuidV7 } from "../../src/store/uuid-v7.ts";

test("ids are version 7 and carry the time of their making", () => {
  const future = Date.now() + 60_000;
  const id = uuidV7(future);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(future);
});

test("ids sort by their making, in one millisecond and when the clock goes back", () => {
  const now = Date.now() + 120_000;
  const ids = Array.from({ length: 10_000 }, (_, i) => uuidV7(i < 9_000 ? now : now - 50_000));
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});
