import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../contracts/job.ts";

/** Writes the skill's own files where SKILL.md names them: below the working directory, with which they go. */
export async function writeSkillFiles({ files = [], workDir }: Job): Promise<void> {
  for (const { path, content, executable } of files) {
    const target = join(workDir, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const mode = executable ? 0o700 : 0o600;
    await writeFile(target, Buffer.from(content, "base64"), { mode });
  }
}
