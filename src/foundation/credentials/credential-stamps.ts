import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { storeDir } from "./home-dir.ts";

/**
 * What changes with the files of each credential of the store in `home`, by `type:instance`. Reads no
 * value. A store that is not there has none.
 */
export async function credentialStamps(home: string): Promise<ReadonlyMap<string, string>> {
  const store = storeDir(home);
  const entries = await readdir(store, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => !entry.isDirectory()).map(pathOf);
  const stamps = new Map<string, string>();
  for (const path of paths.sort()) {
    const name = credentialOf(relative(store, path).split(sep));
    const stats = name === null ? null : await stat(path).catch(() => null);
    if (name === null || stats === null) continue;
    stamps.set(name, `${stamps.get(name) ?? ""} ${path} ${stats.ino} ${stats.ctimeMs}`);
  }
  return stamps;
}

function pathOf({ parentPath, name }: { parentPath: string; name: string }): string {
  return join(parentPath, name);
}

/** The credential of `type/instance/field`; null for other files. Hidden files belong to editors and open writes. */
function credentialOf([type, instance, field, ...deeper]: readonly string[]): string | null {
  if (type === undefined || instance === undefined || field === undefined) return null;
  if (deeper.length > 0 || field.startsWith(".")) return null;
  return `${type}:${instance}`;
}
