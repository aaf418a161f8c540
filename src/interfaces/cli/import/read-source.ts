import { lstat, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parse } from "smol-toml";
import { readText } from "../../../foundation/config/read-project.ts";
import { UserError, messageOf } from "../../../foundation/errors.ts";
import type { NewFile } from "../write-files.ts";
import type { Table } from "./tables.ts";

/** An agent of Action Llama; null for a missing file. */
export type SourceAgent = NonNullable<Awaited<ReturnType<typeof readAgent>>>;

/** A project of Action Llama. */
export type SourceProject = Awaited<ReturnType<typeof readSource>>;

const configs = ["config.toml", "agent-config.toml"];
const instructions = ["SKILL.md", "ACTIONS.md"];
const taken = ["agents", "config.toml", ".env.toml", "Dockerfile", "shared", ".gitignore"];
const ignored = new Set([".git", "node_modules", ".al", ".DS_Store", ".workspace"]);
const maxTextBytes = 1024 ** 2;
const maxCopiedBytes = 16 * 1024 ** 2;

/** Reads a project of Action Llama, or a directory of agents. Changes nothing. Throws a UserError for anything else. */
export async function readSource(dir: string) {
  const top = await namesIn(dir);
  const home = top.includes("agents") ? join(dir, "agents") : dir;
  const found = await Promise.all((await namesIn(home)).map((name) => readAgent(home, name)));
  const agents = found.filter((agent) => agent !== null);
  if (agents.length === 0) throw notASource(dir);
  const own = home === dir ? agents.map(({ name }) => name) : [];
  return {
    dir,
    config: await tomlAt(dir, "config.toml"),
    /** Keys of this file override those of config.toml. */
    envToml: (await tomlAt(dir, ".env.toml"))?.table ?? {},
    dockerfile: await textAt(dir, "Dockerfile"),
    /** Visible to every agent. */
    shared: (await copiedFiles(join(dir, "shared"), [])).files,
    agents,
    leftOut: top.filter((name) => !taken.includes(name) && !own.includes(name)),
  };
}

function notASource(dir: string): UserError {
  const message = `${dir} is not a project of Action Llama: it has no agents/<name>/ with SKILL.md or config.toml`;
  return new UserError("not_a_project", message, {
    hint: "name the directory that holds its config.toml and agents/",
    exitCode: 2,
  });
}

/** Null for a directory without an agent's files. */
async function readAgent(home: string, name: string) {
  const dir = join(home, name);
  if (!(await lstat(dir)).isDirectory()) return null;
  const names = await namesIn(dir);
  const configName = configs.find((file) => names.includes(file));
  const instructionsName = instructions.find((file) => names.includes(file));
  if (configName === undefined && instructionsName === undefined) return null;
  const { files, leftOut } = await copiedFiles(dir, [...configs, ...instructions, "Dockerfile"]);
  return {
    name,
    config: configName === undefined ? null : await tomlAt(dir, configName),
    instructions: instructionsName === undefined ? null : await textAt(dir, instructionsName),
    dockerfile: await textAt(dir, "Dockerfile"),
    files,
    leftOut,
  };
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter((name) => !ignored.has(name)).sort();
  } catch (error) {
    throw new UserError("no_project", `${dir} can't be read: ${messageOf(error)}`, {
      hint: "name the directory of a project of Action Llama",
      exitCode: 2,
      cause: error,
    });
  }
}

async function textAt(dir: string, name: string): Promise<string | null> {
  const file = await readText(join(dir, name), dir, maxTextBytes);
  if (file.type === "missing") return null;
  if (file.type === "text") return file.text;
  throw new UserError("unreadable_file", `${join(dir, name)} ${file.reason}`);
}

async function tomlAt(dir: string, name: string) {
  const text = await textAt(dir, name);
  if (text === null) return null;
  try {
    const table: Table = parse(text, { unsafeKeyBehaviour: "throw", maxDepth: 64 });
    return { text, table };
  } catch (error) {
    const [reason = ""] = messageOf(error).split("\n");
    throw new UserError("invalid_config", `${join(dir, name)}: ${reason}`, {
      hint: "correct it there first; nothing was written",
      cause: error,
    });
  }
}

/** The plain files below a directory except `except`; links may lead elsewhere and are skipped. */
async function copiedFiles(dir: string, except: readonly string[]) {
  const files = new Map<string, NewFile>();
  const leftOut: string[] = [];
  let bytes = 0;
  const isThere = (await lstat(dir).catch(() => null))?.isDirectory() === true;
  const entries = isThere ? await readdir(dir, { recursive: true, withFileTypes: true }) : [];
  const found = entries.map((entry) => {
    return { entry, path: relative(dir, join(entry.parentPath, entry.name)) };
  });
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { entry, path } of found) {
    if (entry.isDirectory() || except.includes(path)) continue;
    if (path.split("/").some((part) => ignored.has(part))) continue;
    const { size, mode } = await lstat(join(dir, path));
    if (!entry.isFile() || bytes + size > maxCopiedBytes) {
      leftOut.push(path);
      continue;
    }
    bytes += size;
    const content = await readFile(join(dir, path));
    files.set(path, { content, isExecutable: (mode & 0o100) !== 0 });
  }
  return { files, leftOut };
}
