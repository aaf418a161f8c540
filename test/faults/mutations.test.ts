import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { mutations } from "./mutations.ts";

const root = resolve(import.meta.dirname, "../..");

test("the words that choose a mutation's tests are in one of their files", () => {
  const has = (path: string, words: string): boolean =>
    readFileSync(join(root, path), "utf8").replace(/\s+/g, " ").includes(words);
  const stale = mutations.filter(({ tests, only = "" }) => !tests.some((path) => has(path, only)));
  expect(stale.map(({ defence }) => defence)).toEqual([]);
});

test("the text of each mutation is in its file once, and its tests exist", () => {
  const stale = mutations.filter(({ file, find, tests }) => {
    const isFound = readFileSync(join(root, file), "utf8").split(find).length === 2;
    return !isFound || !tests.every((path) => existsSync(join(root, path)));
  });
  expect(stale.map(({ defence }) => defence)).toEqual([]);
});
