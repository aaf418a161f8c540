import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** What is read of an agent's folder for its runs, and changes without needing a new image. */
const notOfImage = ["config.toml", "SKILL.md"];

/** What editors put beside a file while it is edited: swap files, backups, locks. A build for each would never end. */
const ofEditors = /^(\..+\.sw.|4913|.+~|\.#.+)$/;

/** Whether a path below an agent's folder, with `/`, is part of the context that its Dockerfile is built with. */
export function isImageContext(path: string): boolean {
  return !notOfImage.includes(path) && !path.split("/").some((name) => ofEditors.test(name));
}

/**
 * A text that changes with any file that an agent's Dockerfile may copy; empty when there is none. Of no contents, as
 * it is made often, and a build looks at those anyway. Links are not followed: what they lead to is in no context.
 * What can't be looked at is there, with that for a stamp; never rejects.
 */
export async function imageContextStamp(agentDir: string): Promise<string> {
  const lines = await stampsIn(agentDir, "");
  return lines.length === 0 ? "" : createHash("sha256").update(lines.join("\n")).digest("hex");
}

async function stampsIn(agentDir: string, folder: string): Promise<readonly string[]> {
  const names = await readdir(join(agentDir, folder)).catch(() => null);
  if (names === null) return [`${folder} can't be read`];
  const paths = names.sort().map((name) => (folder === "" ? name : `${folder}/${name}`));
  const counted = paths.filter((path) => path !== "Dockerfile" && isImageContext(path));
  return (await Promise.all(counted.map((path) => stampsOf(agentDir, path)))).flat();
}

/** A folder's own times are left out: an editor's files change them, too. */
async function stampsOf(agentDir: string, path: string): Promise<readonly string[]> {
  const stats = await lstat(join(agentDir, path), { bigint: true }).catch(() => null);
  if (stats === null) return [`${path} can't be looked at`];
  const { mode, size, mtimeNs, ctimeNs } = stats;
  if (!stats.isDirectory()) return [[path, mode, size, mtimeNs, ctimeNs].join(" ")];
  return [`${path} ${mode}`, ...(await stampsIn(agentDir, path))];
}
