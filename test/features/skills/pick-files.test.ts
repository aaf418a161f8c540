import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fetchRepository } from "../../../src/features/skills/fetch-repository.ts";
import { findSkills } from "../../../src/features/skills/find-skills.ts";
import { pickFiles } from "../../../src/features/skills/pick-files.ts";
import { makeRepository } from "./repositories.ts";
import type { TestRepository } from "./repositories.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository();
});
afterEach(() => repository.remove());

/** The files of the repository's newest commit, as git tells them. */
async function filesOf() {
  const fetched = await fetchRepository(repository.url, { env: process.env });
  const files = await fetched.files(fetched.head);
  await fetched.remove();
  return files;
}

/** What is picked of the first skill. */
async function picked() {
  const files = await filesOf();
  const [skill] = findSkills(files);
  if (skill === undefined) throw new Error("no skill");
  return pickFiles(files, skill);
}

describe("the skills of a repository", () => {
  test("lie at the top, in skills/ or in directories of their own", async () => {
    for (const dir of ["", "skills/b/", "a/", ".hidden/", "x/y/z/"]) {
      repository.write(`${dir}SKILL.md`, "Do it.\n");
    }
    repository.write("docs/readme.md", "");
    repository.commit();
    expect(findSkills(await filesOf())).toEqual([
      { name: null, prefix: "" },
      { name: "a", prefix: "a/" },
      { name: "b", prefix: "skills/b/" },
    ]);
  });
});

describe("the files of a skill", () => {
  test("are SKILL.md, scripts, references, assets and the Dockerfile; the rest is left out", async () => {
    for (const path of [
      "assets/a.bin",
      "references/deep/r.md",
      "scripts/run",
      "Dockerfile",
      "SKILL.md",
    ]) {
      repository.write(`skills/one/${path}`, "x");
    }
    for (const path of ["config.toml", "LICENSE", ".env", "scripts.md"]) {
      repository.write(`skills/one/${path}`, "x");
    }
    repository.write("skills/two/SKILL.md", "x");
    repository.commit();
    const { files, leftOut } = await picked();
    expect(files.map(({ path }) => path)).toEqual([
      "SKILL.md",
      "Dockerfile",
      "assets/a.bin",
      "references/deep/r.md",
      "scripts/run",
    ]);
    expect(leftOut.map(({ path }) => path)).toEqual([
      ".env",
      "LICENSE",
      "config.toml",
      "scripts.md",
    ]);
  });

  test.each([
    ["SKILL.md", "/etc/passwd"],
    ["scripts/out", "../../../../etc/passwd"],
    ["scripts/inside", "run.sh"],
    ["references", "/etc"],
    ["Dockerfile", "../Dockerfile"],
  ])("may not be links: %s to %s", async (path, target) => {
    if (path !== "SKILL.md") repository.write("SKILL.md", "Do it.\n");
    repository.link(path, target);
    repository.commit();
    await expect(picked()).rejects.toThrow(/the skill is refused: ".+" is a symbolic link/);
  });

  test("may not be a submodule", async () => {
    repository.write("SKILL.md", "Do it.\n");
    repository.write(".gitmodules", '[submodule "x"]\n\tpath = scripts\n\turl = ext::touch\n');
    const commit = repository.commit();
    repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},scripts`);
    repository.git("commit", "--quiet", "-m", "submodule");
    await expect(picked()).rejects.toThrow('"scripts" is a submodule');
  });

  test.each(["..", ".", ".git", ".GIT"])("may not be called %j", async (name) => {
    const id = repository.store("echo pwned\n");
    const scripts = repository.tree([`100644 blob ${id}\tevil`]);
    const middle = repository.tree([`040000 tree ${scripts}\t${name}`]);
    repository.commitTree([`100644 blob ${id}\tSKILL.md`, `040000 tree ${middle}\tscripts`]);
    await expect(picked()).rejects.toThrow("is not a plain name");
  });

  test("may not hide in a name with a slash, a line break or a change of direction", async () => {
    const id = repository.store("x\n");
    for (const name of ["a\u202Ecod.sh", "b\\c", "bell\u0007"]) {
      const scripts = repository.tree([`100644 blob ${id}\t${name}`]);
      repository.commitTree([`100644 blob ${id}\tSKILL.md`, `040000 tree ${scripts}\tscripts`]);
      await expect(picked()).rejects.toThrow("is not a plain name");
    }
  });

  test("may not lie too deep", async () => {
    repository.write("SKILL.md", "Do it.\n");
    repository.write(`scripts/${"d/".repeat(300)}x`, "");
    repository.commit();
    await expect(picked()).rejects.toThrow("lies too deep");
  });

  test("may not be huge, alone or together", async () => {
    repository.write("SKILL.md", "Do it.\n");
    repository.write("assets/zeros", new Uint8Array(11 * 1024 ** 2));
    repository.commit();
    await expect(picked()).rejects.toThrow(/"assets\/zeros" has 11534336 bytes/);
    for (const name of ["zeros", "b", "c", "d"]) {
      repository.write(`assets/${name}`, new Uint8Array(9 * 1024 ** 2));
    }
    repository.commit();
    await expect(picked()).rejects.toThrow(/it has \d+ bytes; at most/);
  });

  test("may not be too many", async () => {
    repository.write("SKILL.md", "Do it.\n");
    for (let index = 0; index < 501; index++) repository.write(`assets/${index}`, "");
    repository.commit();
    await expect(picked()).rejects.toThrow("it has 502 files");
  });

  test("may not differ by upper and lower case only", async () => {
    const id = repository.store("x\n");
    const scripts = repository.tree([`100644 blob ${id}\tRun`, `100644 blob ${id}\trun`]);
    repository.commitTree([`100644 blob ${id}\tSKILL.md`, `040000 tree ${scripts}\tscripts`]);
    await expect(picked()).rejects.toThrow('"scripts/run" is there twice');
  });
});
