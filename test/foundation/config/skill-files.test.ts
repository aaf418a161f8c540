import { join, dirname } from "node:path";
import { createSkillHashes, readSkillFiles } from "../../../src/foundation/config/skill-files.ts";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tempDir } from "../../helpers/temp-dir.ts";

let project: string;
beforeEach(() => void (project = tempDir()));

/** Writes a file of the agent `dev`. */
async function put(path: string, content: string | Buffer): Promise<string> {
  const file = join(project, "agents/dev", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

const read = () => readSkillFiles(project, "dev");

test("the files of a skill are read from its three folders, with bytes and execute bits", async () => {
  await put("SKILL.md", "Do it.\n");
  await put("notes/own.md", "not the skill's");
  await put("references/deep/a.md", "A\n");
  await put("assets/logo.png", Buffer.from([0, 255, 10]));
  await chmod(await put("scripts/run.sh", "echo hi\n"), 0o755);
  expect(await read()).toEqual([
    { path: "scripts/run.sh", content: btoa("echo hi\n"), executable: true },
    { path: "references/deep/a.md", content: btoa("A\n"), executable: false },
    { path: "assets/logo.png", content: "AP8K", executable: false },
  ]);
});

test.each(["scripts/users", "assets"])(
  "the files of a skill exclude a symbolic link and files below it: %s",
  async (path) => {
    await put("scripts/run.sh", "echo hi\n");
    await symlink("/etc", join(project, "agents/dev", path));
    await expect(read()).rejects.toThrow(`agents/dev/${path} is a link`);
  },
);

test("a skill is rejected if its files are too many, too large together or nested too deeply", async () => {
  const large = Buffer.alloc(9 * 1024 ** 2);
  await put("assets/a", large);
  await put("assets/b", large);
  await expect(read()).rejects.toThrow("agents/dev/assets/b makes the skill's files larger");
  await rm(join(project, "agents/dev/assets"), { recursive: true });
  await put(`assets/${"d/".repeat(9)}x`, "deep");
  await expect(read()).rejects.toThrow("more than 8 folders deep");
  await rm(join(project, "agents/dev/assets"), { recursive: true });
  for (let n = 0; n <= 500; n++) await put(`assets/${n}`, "");
  await expect(read()).rejects.toThrow("is more than 500 files");
});

test("each file of a skill has a hash, which changes with its bytes and its mode", async () => {
  const hashesOf = createSkillHashes(project);
  expect(await hashesOf("dev")).toEqual({});
  await put("scripts/a.sh", "one");
  const inner = await put("scripts/inner/b.sh", "one");
  const first = await hashesOf("dev");
  expect(Object.keys(first).sort()).toEqual(["scripts/a.sh", "scripts/inner/b.sh"]);
  expect(first["scripts/a.sh"]).toMatch(/^[0-9a-f]{16}$/);
  expect(first["scripts/inner/b.sh"]).toBe(first["scripts/a.sh"]);
  expect(await hashesOf("dev")).toEqual(first);

  await put("scripts/a.sh", "two");
  await chmod(inner, 0o700);
  const second = await hashesOf("dev");
  expect(second["scripts/a.sh"]).not.toBe(first["scripts/a.sh"]);
  expect(second["scripts/inner/b.sh"]).toBe(`${first["scripts/inner/b.sh"] ?? ""} executable`);
});
