import { existsSync } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../../foundation/errors.ts";

/** The directory that a URL names, when it is there and no repository of git; null otherwise. */
export async function plainDirectory(url: string): Promise<string | null> {
  if (!url.startsWith("file:")) return null;
  const path = fileURLToPath(url);
  const isThere = (name: string) => existsSync(join(path, name));
  const stats = await lstat(path).catch(() => null);
  if (stats?.isDirectory() !== true) return null;
  const isRepository = isThere(".git") || (isThere("HEAD") && isThere("objects"));
  return isRepository ? null : path;
}

const limits = { files: 5000, depth: 10 };
const ignored = [".git", "node_modules"];

/**
 * Input of `git fast-import` that commits a directory's files to `ref`. The same files make the same commit. Throws a
 * UserError when there are too many or they are larger than `maxBytes` together.
 */
export async function directoryCommit(dir: string, ref: string, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from(`commit ${ref}\ncommitter al <al> 0 +0000\ndata 0\n`)];
  let [files, bytes] = [0, 0];
  const add = (path: string, mode: string, content: Buffer): void => {
    files += 1;
    bytes += content.byteLength;
    if (files > limits.files || bytes > maxBytes) throw tooLarge(dir, maxBytes);
    const head = `M ${mode} inline ${quoted(path)}\ndata ${content.byteLength}\n`;
    parts.push(Buffer.from(head), content, Buffer.from("\n"));
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(dir, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const from = join(dir, path);
      if (ignored.includes(entry.name)) continue;
      if (entry.isDirectory()) await walkDeeper(path, depth);
      else if (entry.isSymbolicLink()) add(path, "120000", Buffer.from(await readlink(from)));
      else if (entry.isFile()) {
        const { size, mode } = await lstat(from);
        if (bytes + size > maxBytes) throw tooLarge(dir, maxBytes);
        add(path, (mode & 0o100) === 0 ? "100644" : "100755", await readFile(from));
      }
    }
  };
  const walkDeeper = async (path: string, depth: number): Promise<void> => {
    if (depth < limits.depth) await walk(path, depth + 1);
  };
  await walk("", 1);
  return Buffer.concat(parts);
}

/** A path as fast-import takes any. */
function quoted(path: string): string {
  const escaped = path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${escaped}"`;
}

function tooLarge(dir: string, maxBytes: number): UserError {
  const message = `${dir} has more than ${limits.files} files or ${maxBytes / 1024 ** 2} MiB`;
  return new UserError("too_large", message, {
    hint: "a skill is a few files; name its own directory",
  });
}
