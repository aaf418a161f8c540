import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { UserError, messageOf } from "../../errors.ts";
import { writeSchemas } from "../schema-files.ts";
import type { ProjectFile } from "./read-source.ts";

/** Throws a UserError when the new project would be in the source, or where something is already. */
export async function assertNewTarget(target: string, source: string): Promise<void> {
  const place = `${await realOf(target)}${sep}`;
  if (place.startsWith(`${await realpath(source)}${sep}`)) {
    const message = `${target} is in the project that is imported, which stays as it is`;
    const hint = "name a directory outside of it with --to";
    throw new UserError("usage", message, { hint, exitCode: 2 });
  }
  const names = existsSync(target) ? await readdir(target).catch(() => [target]) : [];
  if (names.length === 0) return;
  throw new UserError("exists", `${target} is there already; nothing was written`, {
    hint: "name a directory that is not there with --to",
  });
}

/** The real path, of which the end may not be there yet. */
async function realOf(path: string): Promise<string> {
  return existsSync(path) ? realpath(path) : join(await realOf(dirname(path)), basename(path));
}

/** Writes the project beside its place and moves it there in one step: a failure leaves nothing behind. */
export async function writeProject(
  target: string,
  files: ReadonlyMap<string, ProjectFile>,
): Promise<void> {
  const draft = `${target}.import-${randomBytes(4).toString("hex")}`;
  try {
    await mkdir(draft, { recursive: true });
    for (const [path, { content, isExecutable }] of files) {
      const file = join(draft, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
    }
    await writeSchemas(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new UserError("unwritable", `${target} can't be written: ${messageOf(error)}`, {
      hint: "name a directory that you may write to with --to",
      cause: error,
    });
  }
}
