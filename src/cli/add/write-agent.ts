import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError, messageOf } from "../../errors.ts";
import { ensureStateDir } from "../../store/state-dir.ts";
import type { ReadSkill, SkillFile } from "./read-skill.ts";

/**
 * Makes the agent's directory in one step: a running scheduler sees all of it or nothing. It is made in the project's
 * state directory, which nobody watches and which is on the same disk.
 */
export async function writeAgent(
  projectDir: string,
  name: string,
  { files }: Pick<ReadSkill, "files">,
  config: string,
): Promise<void> {
  const draft = join(ensureStateDir(projectDir), `add-${randomBytes(4).toString("hex")}`);
  const dir = join(projectDir, "agents", name);
  try {
    await mkdir(draft);
    for (const file of files) await writeSkillFile(draft, file);
    await writeFile(join(draft, "config.toml"), config, { flag: "wx" });
    await mkdir(dirname(dir), { recursive: true });
    await rename(draft, dir);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new UserError("unwritable", `${dir} can't be written: ${messageOf(error)}`, {
      hint: "make the project's directory writable for you",
      cause: error,
    });
  }
}

/** Never through what is there already. */
async function writeSkillFile(
  dir: string,
  { path, content, isExecutable }: SkillFile,
): Promise<void> {
  const file = join(dir, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
}
