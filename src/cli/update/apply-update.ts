import { mkdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileChange } from "../../skills/compare-files.ts";
import type { SkillFile } from "../add/read-skill.ts";
import { writeConfig } from "../config/config-file.ts";
import { edited } from "../config/edit-toml.ts";
import { replaceFile, unwritable } from "../write-files.ts";
import type { UpdatePlan } from "./plan-update.ts";

/**
 * Writes what changed at the source, each file in one step, then the new `sourceCommit`. Files that were changed here
 * stay. Throws a UserError when it can't; then the next update goes on from there.
 */
export async function applyUpdate({ from, commit, skill, changes }: UpdatePlan): Promise<void> {
  const agentDir = dirname(from.file.path);
  const files = new Map(skill.files.map((file) => [file.path, file]));
  // SKILL.md last: what it names is there then.
  const ordered = changes
    .filter(({ isLocal }) => !isLocal)
    .sort((a, b) => Number(a.path === "SKILL.md") - Number(b.path === "SKILL.md"));
  try {
    for (const { path } of ordered) await replace(agentDir, path, files.get(path));
  } catch (error) {
    throw unwritable(agentDir, error, "make it writable for you and run the command again");
  }
  const text = edited(from.file.text, [{ path: ["sourceCommit"], value: commit }]);
  await writeConfig(from.file, text);
}

/** How many files would be written over although they were changed here. */
export function localChanges({ changes }: UpdatePlan): readonly FileChange[] {
  return changes.filter(({ isLocal }) => isLocal);
}

async function replace(agentDir: string, path: string, next: SkillFile | undefined): Promise<void> {
  const file = join(agentDir, path);
  if (next === undefined) {
    await rm(file, { force: true });
    // Only a folder that is empty now goes.
    if (dirname(path) !== ".") await rmdir(dirname(file)).catch(() => undefined);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, next.content, next.isExecutable ? 0o755 : 0o644);
}
