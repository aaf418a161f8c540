import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readText } from "../../config/read-file.ts";
import { UserError, messageOf } from "../../errors.ts";
import type { Table } from "./tables.ts";

/** A file of the source that is copied as it is. */
export interface CopiedFile {
  /** From the agent's folder, or from `shared/`. */
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** An agent as it is there. */
export interface SourceAgent {
  readonly name: string;
  /** Text and table of its config; null without one. */
  readonly config: SourceToml | null;
  readonly instructions: string | null;
  readonly dockerfile: string | null;
  readonly files: readonly CopiedFile[];
  /** Paths of what is not copied. */
  readonly leftOut: readonly string[];
}

export interface SourceToml {
  readonly text: string;
  readonly table: Table;
}

/** A project as it is there. */
export interface SourceProject {
  readonly dir: string;
  readonly config: SourceToml | null;
  /** `.env.toml`, whose keys go before those of config.toml. */
  readonly envToml: Table;
  readonly dockerfile: string | null;
  readonly shared: readonly CopiedFile[];
  readonly agents: readonly SourceAgent[];
  /** Files of the project's top that are not taken. */
  readonly leftOut: readonly string[];
}

const configs = ["config.toml", "agent-config.toml"];
const instructions = ["SKILL.md", "ACTIONS.md", "PLAYBOOK.md"];
const read = new Set([...configs, ...instructions, "Dockerfile"]);
const ignored = new Set([".git", "node_modules", ".al", ".DS_Store", ".workspace"]);
const maxTextBytes = 1024 ** 2;
const limits = { files: 500, bytes: 16 * 1024 ** 2, depth: 8 };

/** Reads a project of Action Llama, of this or an older layout. Changes nothing. Throws a UserError when it is none. */
export async function readSource(dir: string): Promise<SourceProject> {
  const top = (await namesIn(dir)).filter((name) => !ignored.has(name));
  const home = top.includes("agents") ? join(dir, "agents") : dir;
  const agents: SourceAgent[] = [];
  for (const name of await namesIn(home)) {
    const agent = await readAgentOf(home, name);
    if (agent !== null) agents.push(agent);
  }
  if (agents.length === 0) throw notASource(dir);
  const envToml = await tomlAt(dir, ".env.toml");
  const taken = ["agents", "config.toml", ".env.toml", "Dockerfile", "shared", ".gitignore"];
  const names = agents.map(({ name }) => name);
  return {
    dir,
    config: await tomlAt(dir, "config.toml"),
    envToml: envToml?.table ?? {},
    dockerfile: await textAt(dir, "Dockerfile"),
    shared: (await copiedFiles(join(dir, "shared"))).files,
    agents,
    leftOut: top.filter((name) => !taken.includes(name) && !(home === dir && names.includes(name))),
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
async function readAgentOf(home: string, name: string): Promise<SourceAgent | null> {
  const dir = join(home, name);
  if (ignored.has(name) || (await lstat(dir).catch(() => null))?.isDirectory() !== true)
    return null;
  const names = await namesIn(dir);
  const configName = configs.find((file) => names.includes(file));
  const instructionsName = instructions.find((file) => names.includes(file));
  if (configName === undefined && instructionsName === undefined) return null;
  const { files, leftOut } = await copiedFiles(dir);
  return {
    name,
    config: configName === undefined ? null : await tomlAt(dir, configName),
    instructions: instructionsName === undefined ? null : await textAt(dir, instructionsName),
    dockerfile: await textAt(dir, "Dockerfile"),
    files: files.filter(({ path }) => !read.has(path)),
    leftOut,
  };
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
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

async function tomlAt(dir: string, name: string): Promise<SourceToml | null> {
  const text = await textAt(dir, name);
  if (text === null) return null;
  try {
    return { text, table: parse(text, { unsafeKeyBehaviour: "throw", maxDepth: 64 }) };
  } catch (error) {
    const [reason = ""] = messageOf(error).split("\n");
    throw new UserError("invalid_config", `${join(dir, name)}: ${reason}`, {
      hint: "correct it there first; nothing was written",
      cause: error,
    });
  }
}

/** The plain files below a directory; links lead elsewhere and are left out, as is what exceeds the limits. */
async function copiedFiles(
  dir: string,
): Promise<{ readonly files: readonly CopiedFile[]; readonly leftOut: readonly string[] }> {
  const files: CopiedFile[] = [];
  const leftOut: string[] = [];
  let bytes = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(dir, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (ignored.has(entry.name)) continue;
      if (entry.isDirectory() && depth < limits.depth) await walk(path, depth + 1);
      else if (!entry.isFile() || files.length === limits.files) leftOut.push(path);
      else {
        const { size, mode } = await lstat(join(dir, path));
        bytes += size;
        if (bytes > limits.bytes) leftOut.push(path);
        else
          files.push({
            path,
            content: await readFile(join(dir, path)),
            isExecutable: (mode & 0o100) !== 0,
          });
      }
    }
  };
  if ((await lstat(dir).catch(() => null))?.isDirectory() === true) await walk("", 1);
  return { files, leftOut };
}
