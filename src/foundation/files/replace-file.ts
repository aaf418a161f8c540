import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Replaces a file in one step, so that no reader sees half of it. `own` is called with the new one before that. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
  own?: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const draft = join(dirname(path), draftName());
  const writeDraft = async (): Promise<void> => {
    await using file = await open(draft, "wx", mode);
    await file.writeFile(content);
    await own?.(file);
  };
  try {
    await writeDraft();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Replaces the text of an existing file, even behind a link. Its mode stays, and its owner where this user may set one. */
export async function replaceText(path: string, text: string): Promise<void> {
  const target = await realpath(path);
  const { mode, uid, gid } = await stat(target);
  await replaceFile(target, text, mode & 0o777, async (file) => {
    await file.chown(uid, gid).catch(() => undefined);
    // The umask has removed bits of the mode.
    await file.chmod(mode & 0o777);
  });
}

/** The name of an unfinished file or directory. */
export function draftName(): string {
  return `.${randomBytes(4).toString("hex")}.tmp`;
}
