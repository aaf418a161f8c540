import { unmetPaths, valueAt } from "../../streams/where.ts";

test("a path finds own values only, never inherited ones", () => {
  const payload: unknown = JSON.parse('{"a":{"b":"c"},"__proto__":{"x":"y"}}');
  expect(valueAt(payload, "a.b")).toBe("c");
  expect(valueAt(payload, "x")).toBeUndefined();
  for (const path of ["constructor", "a.constructor.name", "toString", "a.b.length"]) {
    expect(valueAt(payload, path)).toBeUndefined();
  }
});

test("a number in a path is an index of a list", () => {
  const payload = { labels: [{ name: "bug" }, { name: "p1" }] };
  expect(valueAt(payload, "labels.1.name")).toBe("p1");
  expect(valueAt(payload, "labels.2.name")).toBeUndefined();
});

test("values are equal only if their types are, and a missing value equals nothing", () => {
  const payload = { n: 7, text: "7", yes: true, none: null };
  const wanted = { n: 7, text: "7", yes: true, none: null };
  expect(unmetPaths(payload, wanted)).toEqual([]);
  expect(unmetPaths(payload, { n: "7", text: 7, yes: "true", none: false, other: null })).toEqual([
    "n",
    "text",
    "yes",
    "none",
    "other",
  ]);
});
