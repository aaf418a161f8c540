import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { artifactShape, pathProblem } from "../../../foundation/contracts/file-tree.ts";
import { ifMissing, Problem } from "../../../foundation/errors.ts";
import { draftName } from "../../../foundation/files/replace-file.ts";
import { unwritable } from "../write-files.ts";

interface Written {
  readonly path: string;
  readonly isExecutable: boolean;
  readonly content: AsyncIterable<Buffer>;
}

const limits = { ...artifactShape, bytes: Infinity, fileBytes: Infinity };

/**
 * Writes files whose paths a run chose, below a folder and nowhere else: a link below it is not followed. Without `force`,
 * nothing is written if one of them exists. Throws a Problem.
 */
export async function writeBelow(
  folder: string,
  files: readonly Written[],
  force: boolean,
): Promise<void> {
  for (const { path } of files) await assertWritable(folder, path, force);
  for (const file of files) {
    const target = join(folder, file.path);
    const draft = join(dirname(target), draftName());
    try {
      await mkdir(dirname(target), { recursive: true });
      await writeDraft(draft, file);
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error instanceof Problem ? error : unwritable(target, error);
    }
  }
}

async function assertWritable(folder: string, path: string, force: boolean): Promise<void> {
  const problem = pathProblem(path, limits);
  if (problem !== null)
    throw new Problem("malformed", `the path ${JSON.stringify(path)} ${problem}`);
  const names = path.split("/");
  for (let depth = 1; depth < names.length; depth += 1) {
    const parent = join(folder, ...names.slice(0, depth));
    const found = await lstat(parent).catch(ifMissing(null));
    if (found === null || found.isDirectory()) continue;
    throw new Problem("exists", `${parent} is not a folder`, "Name another folder with `-o`.");
  }
  const target = join(folder, path);
  const found = await lstat(target).catch(ifMissing(null));
  if (found?.isDirectory() === true) throw new Problem("exists", `${target} is a folder`);
  if (found === null || force) return;
  throw new Problem("exists", `${target} exists already`, "Overwrite it with `--force`.");
}

async function writeDraft(draft: string, { content, isExecutable }: Written): Promise<void> {
  await using file = await open(draft, "wx", isExecutable ? 0o755 : 0o644);
  await file.writeFile(content);
}
