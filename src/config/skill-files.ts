import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobFile } from "../contracts/job.ts";
import { UserError } from "../errors.ts";

/** The folders of a skill by the public Agent Skills layout; SKILL.md names what is in them by relative paths. */
const folders = ["scripts", "references", "assets"];
const maxFiles = 500;
const maxDepth = 8;
const notPlain = "is a link or no plain file or folder; put a copy there instead";
/** All together; they go with the job. */
const maxBytes = 16 * 1024 ** 2;

/**
 * The files that belong to an agent's skill beside SKILL.md, for the run's working directory. Throws a UserError for
 * a link (it could pull the rest of the disk into a run), for more than 500 files and for more than 16 MiB.
 */
export async function readSkillFiles(
  projectDir: string,
  agent: string,
): Promise<readonly JobFile[]> {
  const root = join(projectDir, "agents", agent);
  const files: JobFile[] = [];
  let left = maxBytes;
  const refuse = (path: string, why: string): UserError =>
    new UserError("skill_files", `agents/${agent}/${path} ${why}`);

  const take = async (path: string): Promise<void> => {
    const { size, mode } = await lstat(join(root, path));
    left -= size;
    if (left < 0) throw refuse(path, "makes the skill's files larger than 16 MiB together");
    if (files.length === maxFiles) throw refuse(path, `is more than ${maxFiles} files`);
    const content = (await readFile(join(root, path))).toString("base64");
    files.push({ path, content, executable: (mode & 0o100) !== 0 });
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > maxDepth) throw refuse(folder, `is more than ${maxDepth} folders deep`);
    if (!(await lstat(join(root, folder))).isDirectory()) throw refuse(folder, notPlain);
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) await walk(path, depth + 1);
      else if (entry.isFile()) await take(path);
      else throw refuse(path, notPlain);
    }
  };
  for (const folder of folders) if (await exists(join(root, folder))) await walk(folder, 1);
  return files;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
