import { randomBytes } from "node:crypto";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Replaces a file in one step, so that no reader sees half of it. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const draft = join(dirname(path), draftName());
  try {
    await writeFile(draft, content, { flag: "wx", mode });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Replaces the text of an existing file, even behind a link; its mode stays. */
export async function replaceText(path: string, text: string): Promise<void> {
  const target = await realpath(path);
  const { mode } = await stat(target);
  await replaceFile(target, text, mode & 0o777);
}

/** The name of an unfinished file or directory. */
export function draftName(): string {
  return `.${randomBytes(4).toString("hex")}.tmp`;
}
