import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { mutations } from "./mutations.ts";

const root = resolve(import.meta.dirname, "../..");

describe("the list of defences", () => {
  test.each(mutations)("fits the code: $defence", ({ file, find, replace, tests }) => {
    const text = readFileSync(join(root, file), "utf8");
    expect(text.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    for (const one of tests) expect(existsSync(join(root, one)), one).toBe(true);
  });

  test("names each defence once", () => {
    const names = mutations.map(({ defence }) => defence);
    expect(new Set(names).size).toBe(names.length);
  });
});
