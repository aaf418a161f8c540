import { compareFiles, contentId, notAFile } from "../../../src/features/skills/compare-files.ts";

/** `A:1 B:2` as paths and contents. */
function contents(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(" ").filter((pair) => pair !== "");
  return new Map(pairs.map((pair) => pair.split(":") as [string, string]));
}

function compared(base: string | null, next: string, local: string): string[] {
  const was = base === null ? null : contents(base);
  return compareFiles(was, contents(next), contents(local)).map(
    ({ path, kind, isLocal }) => `${path} ${kind}${isLocal ? " but changed here" : ""}`,
  );
}

test.each([
  ["only changed locally", "A:1", "A:1", "A:2", []],
  ["changed at the source", "A:1", "A:2", "A:1", ["A changed"]],
  ["changed in the source and locally", "A:1", "A:2", "A:3", ["A changed but changed here"]],
  ["new at the source", "A:1", "A:1 B:1", "A:1", ["B added"]],
  [
    "that are new in the source and locally",
    "A:1",
    "A:1 B:1",
    "A:1 B:2",
    ["B changed but changed here"],
  ],
  ["removed at the source", "A:1 B:1", "A:1", "A:1 B:1", ["B removed"]],
  [
    "removed at the source, changed locally",
    "A:1 B:1",
    "A:1",
    "A:1 B:2",
    ["B removed but changed here"],
  ],
  [
    "removed locally, changed at the source",
    "A:1 B:1",
    "A:1 B:2",
    "A:1",
    ["B added but changed here"],
  ],
  [
    "that are locally replaced by a link",
    "A:1",
    "A:2",
    `A:${notAFile}`,
    ["A changed but changed here"],
  ],
])(
  "compareFiles of files %s (installed: %s, source: %s, local: %s) returns %j",
  (_what, base, next, local, changes) => {
    expect(compared(base, next, local)).toEqual(changes);
  },
);

test("compareFiles without the installed version reports every difference as a local change", () =>
  expect(compared(null, "A:2 B:1 C:1", "A:1 B:1")).toEqual([
    "A changed but changed here",
    "C added",
  ]));

test("contentId returns the id of a file in git", () => {
  const content = Buffer.from("hello\n");
  expect(contentId(content, 40)).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
  expect(contentId(content, 64)).toBe(
    "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4",
  );
});
