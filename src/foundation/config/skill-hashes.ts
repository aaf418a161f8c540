import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listSkillFiles } from "./skill-files.ts";
import type { SkillFile } from "./skill-files.ts";

/** Hashes of the files of an agent's skill beside SKILL.md, by path. */
export type SkillHashes = Readonly<Record<string, string>>;

interface HashedFile {
  readonly state: string;
  readonly hash: string;
}

/**
 * Hashes the files of skills; a file that did not change is not read again. Rejects for files that runs can't have, as
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
