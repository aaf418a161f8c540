import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { SkillFile } from "../add/read-skill.ts";
import { writeDirectory } from "../write-files.ts";

/** Where the skill of an agent is as it was installed: a plain directory, as a source, has no earlier commits. */
export function installedDir(projectDir: string, agent: string, commit: string): string {
  return join(projectDir, ".al/installed", agent, commit);
}

/** Keeps what was installed for the next update, in place of what was before. */
export async function saveInstalled(
  projectDir: string,
  agent: string,
  { commit, files }: { readonly commit: string; readonly files: readonly SkillFile[] },
): Promise<void> {
  const draftsDir = ensureStateDir(projectDir);
  const dir = installedDir(projectDir, agent, commit);
  await rm(join(dir, ".."), { recursive: true, force: true });
  await writeDirectory(dir, new Map(files.map((file) => [file.path, file])), { draftsDir });
}
