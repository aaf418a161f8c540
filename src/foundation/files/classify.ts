import { isSchemaFileName, schemasFolder } from "../contracts/credential-reference.ts";
import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The meaning of a path of the project; null if the program does not read it. `image`: an agent's Dockerfile, where it has one. */
export type PathKind =
  | { readonly kind: "project" }
  | { readonly kind: "agent"; readonly name: string }
  | { readonly kind: "image"; readonly name: string }
  | { readonly kind: "agents-root" }
  | null;

/** The files of an agent's directory that are read, beside its schemas. */
const agentFiles: readonly string[] = ["config.toml", "SKILL.md", "Dockerfile"];

/** Whether a name in the project's directory is a calendar that its config may name. */
export function isCalendarFile(name: string): boolean {
  return /^\w[\w.-]*\.ics$/.test(name);
}

/** Whether a name in the project's directory is read as a part of its config. */
export function isOfProject(name: string): boolean {
  return name === "config.toml" || isCalendarFile(name);
}

/** Whether a path in an agent's directory is read as a part of its config. */
export function isOfAgent(path: string): boolean {
  return agentFiles.includes(path) || path === schemasFolder || isSchemaFileName(path);
}

/**
 * The part to read again for a path relative to the project, with `/` or the system's separator. The name is that of the
 * directory, even if no agent may have it: its reader reports that.
 */
export function classify(path: string): PathKind {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  const [first, name, ...inside] = parts;
  if (first !== undefined && parts.length === 1 && isOfProject(first)) return { kind: "project" };
  if (first !== "agents") return null;
  if (name === undefined) return { kind: "agents-root" };
  const file = inside.join("/");
  if (file === "" || isOfAgent(file)) return { kind: "agent", name };
  return isImageContext(file) ? { kind: "image", name } : null;
}

/** Files of an agent's folder that change without needing a new image. */
const notOfImage = ["config.toml", "SKILL.md"];

/** Files that editors put beside a file: swap files, backups, locks. A build for each would never end. */
const ofEditors = /^(\..+\.sw.|4913|.+~|\.#.+)$/;

/** Whether a path below an agent's folder, with `/`, is part of the context that its Dockerfile is built with. */
export function isImageContext(path: string): boolean {
  return !notOfImage.includes(path) && !path.split("/").some((name) => ofEditors.test(name));
}

/**
 * A hash that changes with any file that an agent's Dockerfile may copy; empty without such files. It omits contents, as
 * it is computed often, and a build compares them anyway. Links are not followed: their targets are not in the context.
 * An unreadable file has its error as stamp; never rejects.
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

/** A folder's own times are ignored: an editor's files change them, too. */
async function stampsOf(agentDir: string, path: string): Promise<readonly string[]> {
  const stats = await lstat(join(agentDir, path), { bigint: true }).catch(() => null);
  if (stats === null) return [`${path} can't be inspected`];
  const { mode, size, mtimeNs, ctimeNs } = stats;
  if (!stats.isDirectory()) return [[path, mode, size, mtimeNs, ctimeNs].join(" ")];
  return [`${path} ${mode}`, ...(await stampsIn(agentDir, path))];
}
