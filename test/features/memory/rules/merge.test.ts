import { randomBy } from "../../../helpers/random.ts";
import { isSameTree, mergeTrees } from "../../../../src/features/memory/rules/merge.ts";

interface File {
  readonly path: string;
  readonly hash: string;
  readonly isExecutable: boolean;
}

const instance = "dev-abcdefgh";
const file = (path: string, hash: string, isExecutable = false): File => ({
  path,
  hash,
  isExecutable,
});

/** Files as `path=content`, separated by spaces. */
function tree(text: string): readonly File[] {
  return text === ""
    ? []
    : text.split(" ").map((one) => file(...(one.split("=") as [string, string])));
}

function merged(base: string, head: string, run: string): string {
  const sides = { base: tree(base), head: tree(head), run: tree(run) };
  return mergeTrees(sides, instance)
    .files.map(({ path, hash }) => `${path}=${hash}`)
    .join(" ");
}

describe("merging the files of a run", () => {
  test.each([
    ["takes its changes if no other run changed them", "a=1 b=1", "a=1 b=2", "a=2 b=1", "a=2 b=2"],
    ["takes its new and its deleted files", "a=1 b=1", "a=1 b=1 c=1", "b=1 d=1", "b=1 c=1 d=1"],
    ["takes one file of two equal changes", "a=1", "a=2", "a=2", "a=2"],
    [
      "keeps both contents of a file that both changed",
      "a=1",
      "a=2",
      "a=3",
      `a=2 a.conflict-${instance}=3`,
    ],
    ["keeps a change of a file that the run deleted", "a=1", "a=2", "", "a=2"],
    [
      "keeps the run's change of a deleted file beside",
      "a=1",
      "",
      "a=2",
      `a.conflict-${instance}=2`,
    ],
    [
      "keeps a file beside a folder of its name",
      "",
      "a/b=1",
      "a=2",
      `a.conflict-${instance}=2 a/b=1`,
    ],
    [
      "keeps a folder beside a file of its name",
      "",
      "a=1",
      "a/b=2 a/c=3",
      `a=1 a.conflict-${instance}/b=2 a.conflict-${instance}/c=3`,
    ],
    [
      "keeps a path that differs in case beside",
      "",
      "A/x=1",
      "a/y=2",
      `A/x=1 a.conflict-${instance}/y=2`,
    ],
    ["deletes in the run what it replaces by a folder", "a=1", "a=1", "a/b=1", "a/b=1"],
  ])("%s", (_, base, head, run, expected) => {
    expect(merged(base, head, run)).toBe(expected);
  });

  test("takes a change of the mode alone", () => {
    const [plain, program] = [[file("a", "1")], [file("a", "1", true)]];
    expect(mergeTrees({ base: plain, head: plain, run: program }, instance).files).toEqual(program);
    expect([isSameTree(plain, program), isSameTree(plain, plain)]).toEqual([false, true]);
  });

  test("names a conflict file anew if a file has its name, and shortens a long name by whole characters", () => {
    const forged = `a.conflict-${instance}`;
    expect(merged("a=1", `a=2 ${forged}=9`, "a=3")).toBe(`a=2 ${forged}=9 ${forged}-2=3`);
    const long = "ä".repeat(127);
    const { conflicts } = mergeTrees(
      { base: [], head: [file(long, "1")], run: [file(long, "2")] },
      instance,
    );
    const room = 255 - Buffer.byteLength(`.conflict-${instance}`);
    expect(conflicts).toEqual([`${"ä".repeat(Math.floor(room / 2))}.conflict-${instance}`]);
  });

  test("puts a conflict file whose path would be too long at the top", () => {
    const deep = Array.from({ length: 5 }, () => "x".repeat(200)).join("/");
    const sides = { base: [], head: [file(deep, "1")], run: [file(deep, "2")] };
    const { conflicts } = mergeTrees(sides, instance);
    expect(conflicts).toEqual([`${"x".repeat(200)}.conflict-${instance}`]);
  });
});

const names = ["a", "A", "b", "ä", "a.conflict-dev-abcdefgh"];

/** A tree in which all paths can be beside one another. */
function randomTree(random: () => number, from: readonly File[]): readonly File[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const added = Array.from({ length: Math.floor(random() * 5) }, () =>
    file(
      Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join("/"),
      pick(["1", "2", "3"]),
      random() < 0.2,
    ),
  );
  const kept = from.filter(() => random() < 0.6);
  const files: File[] = [];
  for (const one of [...kept, ...added]) if (isFree(one.path, files)) files.push(one);
  return files;
}

function isFree(path: string, files: readonly File[]): boolean {
  return files.every(({ path: other }) => {
    const [mine, theirs] = [path.split("/"), other.split("/")];
    const differs = mine.findIndex((name, at) => name !== theirs[at]);
    if (differs === -1 || differs >= theirs.length) return false;
    return mine[differs]?.toLowerCase() !== theirs[differs]?.toLowerCase();
  });
}

const has = (files: readonly File[], { path, hash, isExecutable }: File): boolean =>
  files.some((one) => one.path === path && one.hash === hash && one.isExecutable === isExecutable);

test("of any three trees no write is lost, deletions hold, and the result is a tree", () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomBy(seed);
    const base = randomTree(random, []);
    const [head, run] = [randomTree(random, base), randomTree(random, base)];
    const sides = { base, head, run };
    const { files, conflicts } = mergeTrees(sides, instance);
    const at = `seed ${seed}`;
    // Each change of the latest version is at its path; each change of the run is there, or in a conflict file.
    for (const one of head) if (!has(base, one)) expect(has(files, one), at).toBe(true);
    const beside = files.filter(({ path }) => conflicts.includes(path));
    for (const one of run.filter((each) => !has(base, each))) {
      const isBeside = beside.some(
        ({ hash, path }) => hash === one.hash && path.includes(".conflict-"),
      );
      expect(has(files, one) || isBeside, at).toBe(true);
    }
    // A file that both left as it was stays; one that either deleted, while the other left it, is gone.
    for (const one of base) {
      const [inHead, inRun] = [has(head, one), has(run, one)];
      if (inHead && inRun) expect(has(files, one), at).toBe(true);
      if (inHead !== inRun && !conflicts.includes(one.path))
        expect(has(files, one), at).toBe(false);
    }
    files.forEach((one, index) => {
      const others = files.filter((_, other) => other !== index);
      expect(isFree(one.path, others), `${at}: ${one.path}`).toBe(true);
    });
    // Every file is of one of the three, and the order of their files does not matter.
    expect(files.length, at).toBeLessThanOrEqual(head.length + run.length);
    const again = { base: base.toReversed(), head: head.toReversed(), run: run.toReversed() };
    expect(mergeTrees(again, instance), at).toEqual({ files, conflicts });
  }
});

test("merging into the version that the run received takes its tree as it is", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = randomBy(seed);
    const base = randomTree(random, []);
    const run = randomTree(random, base);
    const merge = mergeTrees({ base, head: base, run }, instance);
    expect(isSameTree(merge.files, run) && merge.conflicts.length === 0, `seed ${seed}`).toBe(true);
  }
});
