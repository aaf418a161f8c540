import { createHash } from "node:crypto";
import { readFile, lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { JobFile } from "../contracts/job.ts";
import { Problem } from "../errors.ts";

/** The folders of a skill by the public Agent Skills layout; SKILL.md refers to their files by relative paths. */
const folders = ["scripts", "references", "assets"];
const maxFiles = 500;
const maxDepth = 8;
const notPlain = "is a link or no plain file or folder; put a copy there instead";
/** Total of all files, which are sent with the job. */
const maxBytes = 16 * 1024 ** 2;

/** A file of a skill beside SKILL.md. */
export interface SkillFile {
  /** Relative to the agent's directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
  /** Changes with each change of the file. */
  readonly state: string;
}

/**
 * The files that belong to an agent's skill beside SKILL.md, for the run's working directory. Throws a Problem for
 * a link (it could pull the rest of the disk into a run), for more than 500 files and for more than 16 MiB.
 */
export async function readSkillFiles(
  projectDir: string,
  agent: string,
): Promise<readonly JobFile[]> {
  const root = skillDir(projectDir, agent);
  const files: JobFile[] = [];
  for (const { path, executable } of await listSkillFiles(projectDir, agent)) {
    const content = (await readFile(join(root, path))).toString("base64");
    files.push({ path, content, executable });
  }
  return files;
}

/** The skill's files without their contents, in the order of the disk. Throws as readSkillFiles. */
async function listSkillFiles(projectDir: string, agent: string): Promise<readonly SkillFile[]> {
  const root = skillDir(projectDir, agent);
  const files: SkillFile[] = [];
  let left = maxBytes;
  const refuse = (path: string, why: string): Problem =>
    new Problem("skill_files", `agents/${agent}/${path} ${why}`);

  const take = async (path: string): Promise<void> => {
    const { size: bytes, mode, mtimeMs, ctimeMs, ino } = await lstat(join(root, path));
    left -= bytes;
    if (left < 0) throw refuse(path, "makes the skill's files larger than 16 MiB together");
    if (files.length === maxFiles) throw refuse(path, `is more than ${maxFiles} files`);
    const state = [ino, bytes, mode, mtimeMs, ctimeMs].join(" ");
    files.push({ path, bytes, executable: (mode & 0o100) !== 0, state });
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
  const present = await Promise.all(folders.map((folder) => exists(join(root, folder))));
  for (const folder of folders.filter((_, index) => present[index])) await walk(folder, 1);
  return files;
}

function skillDir(projectDir: string, agent: string): string {
  return join(projectDir, "agents", agent);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/**
 * The scripts that an agent's scripted models play, as one text with the path of each before it; empty without one. A
 * run whose script can't be read fails with the reason.
 */
export async function scriptTexts({ models }: AgentConfig, projectDir: string): Promise<string> {
  const paths = new Set(models.flatMap(({ script }) => (script === null ? [] : [script])));
  const texts = [...paths].sort().map(async (path) => {
    const text = await readFile(path, "utf8").catch(() => "# (unreadable)\n");
    return `# ${relative(projectDir, path)}\n${text}`;
  });
  return (await Promise.all(texts)).join("");
}

/** Hashes of the files of an agent's skill beside SKILL.md, by path. */
type SkillHashes = Readonly<Record<string, string>>;

interface HashedFile {
  readonly state: string;
  readonly hash: string;
}

/**
 * Hashes the files of skills; an unchanged file is not read again. Rejects for files that runs can't have, as
 * readSkillFiles does.
 */
export function createSkillHashes(projectDir: string): (agent: string) => Promise<SkillHashes> {
  const known = new Map<string, ReadonlyMap<string, HashedFile>>();
  return async (agent) => {
    const before = known.get(agent);
    const hashed = new Map<string, HashedFile>();
    for (const file of await listSkillFiles(projectDir, agent)) {
      const last = before?.get(file.path);
      const hash =
        last?.state === file.state
          ? last.hash
          : await hashOf(join(projectDir, "agents", agent, file.path), file);
      hashed.set(file.path, { state: file.state, hash });
    }
    if (hashed.size === 0) known.delete(agent);
    else known.set(agent, hashed);
    return Object.fromEntries([...hashed].map(([path, { hash }]) => [path, hash]));
  };
}

async function hashOf(path: string, { executable }: SkillFile): Promise<string> {
  const hash = createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
    .slice(0, 16);
  return executable ? `${hash} executable` : hash;
}
