import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { mutations } from "./mutations.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the words that select a mutation's tests are in the test file", () => {
  const stale = mutations.filter(
    ({ test, only = "" }) => !read(test).replace(/\s+/g, " ").includes(only),
  );
  expect(stale.map(({ defence }) => defence)).toEqual([]);
});

test("the text of each mutation is in its file once", () => {
  const stale = mutations.filter(({ file, find }) => read(file).split(find).length !== 2);
  expect(stale.map(({ defence }) => defence)).toEqual([]);
});

test("the README states the number of defences in mutations.ts", () =>
  expect(read("test/faults/README.md")).toContain(`[${mutations.length} defences](mutations.ts)`));
