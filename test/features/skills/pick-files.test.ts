import type { TreeEntry } from "../../../src/features/skills/git.ts";
import { findSkills, pickFiles } from "../../../src/features/skills/pick-files.ts";

const entry = (path: string, more: Partial<TreeEntry> = {}): TreeEntry => ({
  path,
  kind: "file",
  id: "0",
  size: 1,
  ...more,
});

/** The files of the first skill among `SKILL.md` and these. */
function picked(...entries: readonly TreeEntry[]): ReturnType<typeof pickFiles> {
  const all = [entry("SKILL.md"), ...entries];
  const [skill] = findSkills(all);
  if (skill === undefined) throw new Error("no skill");
  return pickFiles(all, skill);
}

test("skills are found at the top of a repository, in skills/ and in other directories", () => {
  const paths = ["", "skills/b/", "a/", ".hidden/", "x/y/z/"].map((dir) => `${dir}SKILL.md`);
  expect(findSkills([...paths, "docs/readme.md"].map((path) => entry(path)))).toEqual([
    { name: null, prefix: "" },
    { name: "a", prefix: "a/" },
    { name: "b", prefix: "skills/b/" },
  ]);
});

test("a skill installs SKILL.md, scripts, references, assets and the Dockerfile; other files are left out", () => {
  const taken = ["Dockerfile", "assets/a.bin", "references/deep/r.md", "scripts/run"];
  const others = [".env", "LICENSE", "config.toml", "scripts.md"];
  const inSkill = ["SKILL.md", ...taken, ...others].map((path) => entry(`skills/one/${path}`));
  const [skill] = findSkills(inSkill);
  if (skill === undefined) throw new Error("no skill");
  const { files, leftOut } = pickFiles([...inSkill, entry("skills/two/SKILL.md")], skill);
  expect(files.map(({ path }) => path)).toEqual(["SKILL.md", ...taken]);
  expect(leftOut.map(({ path }) => path)).toEqual(others);
});

test.each<[string, RegExp, readonly TreeEntry[]]>([
  [
    "a link",
    /refused: "scripts\/out" is a symbolic link/,
    [entry("scripts/out", { kind: "link" })],
  ],
  ["a submodule", /"scripts" is a submodule/, [entry("scripts", { kind: "submodule" })]],
  ["a folder ..", /is not a plain name/, [entry("scripts/../evil")]],
  ["a folder .", /is not a plain name/, [entry("scripts/./evil")]],
  ["a folder .GIT", /is not a plain name/, [entry("scripts/.GIT/evil")]],
  [
    "a path that changes the text direction",
    /is not a plain name/,
    [entry("scripts/a\u202Ecod.sh")],
  ],
  ["a path with a backslash", /is not a plain name/, [entry("scripts/b\\c")]],
  ["a path with a control character", /is not a plain name/, [entry("scripts/bell\u0007")]],
  ["a deep folder", /is nested too deeply/, [entry(`scripts/${"d/".repeat(300)}x`)]],
  [
    "files that are too large together",
    /it has \d+ bytes; at most/,
    ["a", "b", "c", "d"].map((name) => entry(`assets/${name}`, { size: 9 * 1024 ** 2 })),
  ],
  [
    "a Dockerfile that is a link",
    /refused: "Dockerfile" is a symbolic link/,
    [entry("Dockerfile", { kind: "link" })],
  ],
  [
    "a folder that is a link",
    /refused: "assets" is a symbolic link/,
    [entry("assets", { kind: "link" })],
  ],
  [
    "paths that differ in case only",
    /"scripts\/run" occurs twice/,
    [entry("scripts/Run"), entry("scripts/run")],
  ],
])("a skill is rejected if it contains %s", (_, message, entries) => {
  expect(() => picked(...entries)).toThrow(message);
});
