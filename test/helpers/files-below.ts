import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Every file below the folder, by its path. "latin1" keeps each byte as a character. */
export async function filesBelow(
  dir: string,
  encoding: BufferEncoding = "latin1",
): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const read = async (path: string) => [path, await readFile(path, encoding)] as const;
  return new Map(await Promise.all(paths.map(read)));
}
