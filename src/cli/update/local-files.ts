import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../errors.ts";
import { contentId, notAFile } from "../../skills/compare-files.ts";
import type { Contents } from "../../skills/compare-files.ts";

/** Bigger than any file that is taken from a skill. */
const maxBytes = 64 * 1024 ** 2;

/**
 * The content ids of an agent's files; what is reached through a link is no file of it. `idLength` is that of the
 * repository's ids.
 */
export async function localFiles(
  agentDir: string,
  paths: Iterable<string>,
  idLength: number,
): Promise<Contents> {
  const ids = new Map<string, string>();
  for (const path of paths) {
    const kind = await kindOf(agentDir, path);
    if (kind === "other") ids.set(path, notAFile);
    if (kind === "file") ids.set(path, contentId(await readFile(join(agentDir, path)), idLength));
  }
  return ids;
}

async function kindOf(agentDir: string, path: string): Promise<"file" | "missing" | "other"> {
  const parts = path.split("/");
  for (const [index] of parts.entries()) {
    const place = join(agentDir, ...parts.slice(0, index + 1));
    const isLast = index === parts.length - 1;
    try {
      const stat = await lstat(place);
      if (isLast) return stat.isFile() && stat.size <= maxBytes ? "file" : "other";
      if (!stat.isDirectory()) return "other";
    } catch (error) {
      if (isMissing(error)) return "missing";
      throw error;
    }
  }
  return "other";
}
