import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError, messageOf } from "../../errors.ts";
import type { FileChange } from "../../skills/compare-files.ts";
import type { SkillFile } from "../add/read-skill.ts";
import { writeConfig } from "../config/config-file.ts";
import { edited } from "../config/edit-toml.ts";
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
    throw new UserError("unwritable", `${agentDir} can't be written: ${messageOf(error)}`, {
      hint: "make it writable for you and run the command again",
      cause: error,
    });
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
  const draft = join(dirname(file), `.${randomBytes(4).toString("hex")}.tmp`);
  try {
    await writeFile(draft, next.content, { flag: "wx", mode: next.isExecutable ? 0o755 : 0o644 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
