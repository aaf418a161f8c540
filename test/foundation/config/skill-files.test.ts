import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { createSkillHashes, readSkillFiles } from "../../../src/foundation/config/skill-files.ts";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";

let project: string;
beforeEach(async () => void (project = await mkdtemp(join(tmpdir(), "al-skill-files-"))));
afterEach(() => rm(project, { recursive: true, force: true }));

/** Writes a file of the agent `dev`. */
async function put(path: string, content: string | Buffer): Promise<string> {
  const file = join(project, "agents/dev", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

const read = () => readSkillFiles(project, "dev");

test("the files of a skill are those of its three folders, with their bytes and execute bits", async () => {
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

test("the files of a skill include no link, wherever it leads", async () => {
  await put("scripts/run.sh", "echo hi\n");
  await symlink("/etc/passwd", join(project, "agents/dev/scripts/users"));
  await expect(read()).rejects.toThrow("agents/dev/scripts/users is a link");
});

test("the files of a skill are not read through a linked folder", async () => {
  await put("SKILL.md", "Do it.\n");
  await symlink("/etc", join(project, "agents/dev/assets"));
  await expect(read()).rejects.toThrow("agents/dev/assets is a link");
});

test("the files of a skill may not be too many, too large together or too deep", async () => {
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
  const project = mkdtempSync(join(tmpdir(), "al-skill-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const agent = join(project, "agents", "dev");
  const hashesOf = createSkillHashes(project);
  expect(await hashesOf("dev")).toEqual({});
  mkdirSync(join(agent, "scripts", "inner"), { recursive: true });
  writeFileSync(join(agent, "scripts", "a.sh"), "one");
  writeFileSync(join(agent, "scripts", "inner", "b.sh"), "one");
  const first = await hashesOf("dev");
  expect(Object.keys(first).sort()).toEqual(["scripts/a.sh", "scripts/inner/b.sh"]);
  expect(first["scripts/a.sh"]).toMatch(/^[0-9a-f]{16}$/);
  expect(first["scripts/inner/b.sh"]).toBe(first["scripts/a.sh"]);
  expect(await hashesOf("dev")).toEqual(first);

  writeFileSync(join(agent, "scripts", "a.sh"), "two");
  chmodSync(join(agent, "scripts", "inner", "b.sh"), 0o700);
  const second = await hashesOf("dev");
  expect(second["scripts/a.sh"]).not.toBe(first["scripts/a.sh"]);
  expect(second["scripts/inner/b.sh"]).toBe(`${first["scripts/inner/b.sh"] ?? ""} executable`);

  symlinkSync("/etc/passwd", join(agent, "scripts", "link"));
  await expect(hashesOf("dev")).rejects.toThrow("is a link");
});
