import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the program's package.json: beside `src` in a checkout, above `dist` in a package. */
export function programDir(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (versionIn(join(folder, "package.json")) !== null) return folder;
    if (folder === dirname(folder)) throw new Error("the program's package.json is missing");
  }
}

/** The program's version, from its package.json. */
export function packageVersion(): string {
  return versionIn(join(programDir(), "package.json")) ?? "";
}

function versionIn(file: string): string | null {
  try {
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    return manifest.name === "almanac" ? (manifest.version ?? null) : null;
  } catch {
    return null;
  }
}
