import { createTreePaths, pathProblem } from "../../../src/foundation/contracts/file-tree.ts";

const limits = { bytes: 100, fileBytes: 50, entries: 6, depth: 3, nameBytes: 20 };

describe("a path of a tree", () => {
  test.each(["a", "a/b/c.md", ".hidden", "..a", "a b", "ünïcode", "日本語", "-rf", "$(x)", "a'b"])(
    "may be %j",
    (path) => expect(pathProblem(path, limits)).toBeNull(),
  );

  test.each([
    ["/etc/passwd", "absolute"],
    ["", "empty name"],
    ["a//b", "empty name"],
    ["a/", "empty name"],
    [".", '"." or ".."'],
    ["a/./b", '"." or ".."'],
    ["..", '"." or ".."'],
    ["a/../b", '"." or ".."'],
    ["a\0b", "control character"],
    ["a\nb", "control character"],
    ["a\u001b[2Jb", "control character"],
    ["a\u009bb", "control character"],
    ["..\\..\\b", "backslash"],
    ["a\ud800", "valid Unicode"],
    ["e\u0301", "NFC"],
    ["a/b/c/d", "deeper than 3"],
    ["ü".repeat(11), "longer than 20 bytes"],
    ["a/".repeat(600), "longer than 1024 bytes"],
  ])("may not be %j", (path, why) => expect(pathProblem(path, limits)).toContain(why));
});

describe("the paths of one tree", () => {
  const problems = (...paths: readonly string[]) => {
    const all = createTreePaths(limits);
    return paths.map((path) => all.add(path));
  };

  test("may share folders", () => {
    expect(problems("a/b", "a/c", "a/d/e")).toEqual([null, null, null]);
  });

  test.each([
    ["a file twice", ["a", "a"], "twice"],
    ["a file below a file", ["a", "a/b"], "a file and a folder"],
    ["a file in place of a folder", ["a/b", "a"], "a file and a folder"],
    ["names that differ in case", ["Readme", "README"], "in case only"],
    ["folders that differ in case", ["A/x", "a/y"], "in case only"],
    ["letters that differ in case beyond ASCII", ["É", "é"], "in case only"],
    ["ß and SS", ["straße", "STRASSE"], "in case only"],
  ])("may not have %s", (_what, paths, why) => {
    expect(problems(...paths).at(-1)).toContain(why);
  });

  test("count files and folders", () => {
    expect(problems("a/b/c", "a/b/d", "e", "f", "g").map((problem) => problem === null)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});
