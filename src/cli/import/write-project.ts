import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { UserError, isMissing, messageOf } from "../../errors.ts";
import { writeSchemas } from "../schema-files.ts";
import type { PlannedFile } from "./planned-file.ts";

/** Throws a UserError when the new project would be in the source, or where something is already. */
export async function refuseTarget(target: string, source: string): Promise<void> {
  const place = join(await realOf(dirname(target)), basename(target));
  if (`${place}${sep}`.startsWith(`${await realpath(source)}${sep}`)) {
    throw new UserError(
      "usage",
      `${target} is in the project that is imported, which stays as it is`,
      {
        hint: "name a directory outside of it with --to",
        exitCode: 2,
      },
    );
  }
  if (await isEmpty(target)) return;
  throw new UserError("exists", `${target} is there already; nothing was written`, {
    hint: "name a directory that is not there with --to",
  });
}

/** The real path, of which the end may not be there yet. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return join(await realOf(dirname(path)), basename(path));
  }
}

async function isEmpty(dir: string): Promise<boolean> {
  const stats = await lstat(dir).catch(() => null);
  return stats === null || (stats.isDirectory() && (await readdir(dir)).length === 0);
}

/** Writes the project beside its place and puts it there in one step: there is all of it, or nothing. */
export async function writeProject(
  target: string,
  files: ReadonlyMap<string, PlannedFile>,
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
