import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import type { TarEntry } from "./tar.ts";

/**
 * Everything below `root` as entries below `path`, sorted, so that equal trees give equal archives. `skip` is
 * asked with the name and the path relative to `root`. What is neither file, directory nor link is left out.
 */
export async function* walk(
  root: string,
  path: string,
  skip: (name: string, relative: string) => boolean,
  relative = "",
): AsyncGenerator<TarEntry> {
  const entries = await readdir(join(root, relative), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const below = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (skip(entry.name, below)) continue;
    const from = join(root, below);
    const to = path === "" ? below : `${path}/${below}`;
    if (entry.isDirectory()) {
      yield { type: "directory", path: to };
      yield* walk(root, path, skip, below);
    } else if (entry.isSymbolicLink()) {
      yield { type: "symlink", path: to, target: await readlink(from) };
    } else if (entry.isFile()) {
      const { size, mode } = await stat(from);
      yield { type: "file", path: to, from, size, executable: (mode & 0o111) !== 0 };
    }
  }
}
