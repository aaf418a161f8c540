import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  agentNamePattern,
  isSchemaFileName,
  schemaFileName,
  schemasFolder,
} from "../contracts/credential-reference.ts";
import { shellWord } from "../contracts/shell-word.ts";
import { imageContextStamp } from "../files/classify.ts";
import { isMissing, messageOf } from "../errors.ts";
import { fileProblem } from "./validate.ts";
import { readText, readTextSync, maxConfigBytes, type FileText } from "./read-project.ts";
import { formatValue } from "./format-value.ts";
import type { SchemaProblem } from "./value-schema.ts";

/** The texts of an agent's files; null for a file that can't be read, with the reason in `problems`. */
export interface AgentFiles {
  readonly name: string;
  readonly config: string | null;
  readonly skill: string | null;
  /** Changes with the Dockerfile and with the files that it may copy; null without one. */
  readonly dockerfileHash: string | null;
  /** JSON files that the agent's config names, by name. */
  readonly schemas: ReadonlyMap<string, SchemaFile>;
  readonly problems: readonly Diagnostic[];
}

const mebibyte = 1024 ** 2;

/** The most bytes of the files that people write. */
export const maxFileBytes = { "config.toml": maxConfigBytes, "SKILL.md": mebibyte } as const;

/** Reads the agent's files. Null when its directory or its `config.toml` isn't there. Never throws. */
export async function readAgent(projectDir: string, name: string): Promise<AgentFiles | null> {
  const [config, skill, dockerfile] = readFiles(projectDir, name);
  if (config.type === "missing") return null;
  return filesOf(projectDir, name, [config, skill, dockerfile]);
}

/** Reads a directory with a SKILL.md and no `config.toml`, which is not an agent yet; null for others. Never throws. */
export async function readBareSkill(projectDir: string, name: string): Promise<AgentFiles | null> {
  // Read for every touched agent; the other files only for the few without this one.
  const path = join(projectDir, "agents", name, "config.toml");
  const config = readTextSync(path, projectDir, maxConfigBytes);
  if (config.type !== "missing") return null;
  const [, skill, dockerfile] = readFiles(projectDir, name);
  if (skill.type === "missing") return null;
  return filesOf(projectDir, name, [config, skill, dockerfile]);
}

export const bareSkill = "is not an agent: it has a SKILL.md, but no config.toml";

/** The words after `al` that make the missing `config.toml` of a directory. */
export function configCommand(name: string, model = "<model>"): string {
  return `config ${name} --add ${shellWord(`models=${model}`)} --set callable=true`;
}

/** The warning about a directory without `config.toml`; `name` is its name. */
export function bareSkillProblem(name: string): Diagnostic {
  const message = `${bareSkill}; al ${configCommand(name)} creates one`;
  return { ...fileProblem(`agents/${name}`, message), severity: "warning" };
}

/** `config.toml`, SKILL.md and Dockerfile. */
type Texts = readonly [config: FileText, skill: FileText, dockerfile: FileText];

function readFiles(projectDir: string, name: string): Texts {
  const read = (file: string, maxBytes: number): FileText =>
    readTextSync(join(projectDir, "agents", name, file), projectDir, maxBytes);
  return [
    read("config.toml", maxFileBytes["config.toml"]),
    read("SKILL.md", maxFileBytes["SKILL.md"]),
    read("Dockerfile", mebibyte),
  ];
}

async function filesOf(
  projectDir: string,
  name: string,
  [config, skill, dockerfile]: Texts,
): Promise<AgentFiles> {
  const path = `agents/${name}`;
  const needed = skill.type === "missing" ? noSkill : skill;
  return {
    name,
    config: textOf(config),
    skill: textOf(needed),
    dockerfileHash: await imageHash(dockerfile, join(projectDir, "agents", name)),
    schemas: await readSchemas(projectDir, name, namedSchemas(textOf(config) ?? "")),
    problems: [
      ...unreadable(`${path}/config.toml`, config),
      ...unreadable(`${path}/SKILL.md`, needed),
      ...unreadable(`${path}/Dockerfile`, dockerfile),
    ],
  };
}

const noSkill: FileText = {
  type: "unreadable",
  reason: "is missing; expected a markdown file with the agent's instructions",
};

function textOf(file: FileText): string | null {
  return file.type === "text" ? file.text : null;
}

function unreadable(path: string, file: FileText): Diagnostic[] {
  return file.type === "unreadable" ? [fileProblem(path, file.reason)] : [];
}

async function imageHash(dockerfile: FileText, agentDir: string): Promise<string | null> {
  if (dockerfile.type !== "text") return null;
  const context = await imageContextStamp(agentDir);
  return createHash("sha256").update(dockerfile.text).update(context).digest("hex");
}

interface AgentList {
  /** Sorted. `readAgent` may still find no agent for a name. */
  readonly names: readonly string[];
  /** Directories that can't be agents because of their name. */
  readonly problems: readonly Diagnostic[];
}

/** The directories in the project's `agents/`. Never throws: without one the list is empty. */
export async function listAgents(projectDir: string): Promise<AgentList> {
  try {
    const entries = await readdir(join(projectDir, "agents"), { withFileTypes: true });
    // Hidden directories belong to editors and version control.
    const directories = entries
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("."))
      .sort();
    return {
      names: directories.filter(isAgentName),
      problems: directories.filter((name) => !isAgentName(name)).map(illegalName),
    };
  } catch (error) {
    if (isMissing(error)) return { names: [], problems: [] };
    const reason = `can't be read (${messageOf(error)}); check its permissions`;
    return { names: [], problems: [fileProblem("agents", reason)] };
  }
}

const namePattern = new RegExp(`^${agentNamePattern}$`);
const reserved = ["default", "scheduler"];

/** Whether an agent may have this name, which is also its directory's. */
export function isAgentName(name: string): boolean {
  return namePattern.test(name) && !reserved.includes(name);
}

/** Why an agent can't have this name; null if it can. */
export function agentNameProblem(name: string): string | null {
  if (isAgentName(name)) return null;
  const expected = reserved.includes(name)
    ? "this name is reserved"
    : "expected 1 to 63 of a-z, 0-9 and -, not beginning with -";
  return `${formatValue(name)} is not an agent's name: ${expected}`;
}

function illegalName(name: string): Diagnostic {
  const problem = agentNameProblem(name) ?? "";
  return fileProblem(`agents/${name}`, `${problem}; rename the directory`);
}

/** The agents of a project as they are on disk. */
export interface AllAgents {
  /** By name, sorted. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  /** Directories that can't be agents because of their name. */
  readonly problems: readonly Diagnostic[];
  /** Names of directories that would be agents if they had a `config.toml`. */
  readonly bareSkills: readonly string[];
}

/** Reads the files of all agents. Never throws. */
export async function readAllAgents(projectDir: string): Promise<AllAgents> {
  const { names, problems } = await listAgents(projectDir);
  const files = await Promise.all(names.map((name) => readAgent(projectDir, name)));
  const there = files.filter((one) => one !== null);
  const others = names.filter((_, index) => files[index] === null);
  const bare = await Promise.all(others.map((name) => readBareSkill(projectDir, name)));
  return {
    agents: new Map(there.map((one) => [one.name, one])),
    problems,
    bareSkills: bare.flatMap((one) => (one === null ? [] : [one.name])),
  };
}

/** A JSON Schema in an agent's directory. */
export type SchemaFile = FileText | { readonly type: "invalid"; readonly problem: SchemaProblem };

/** An agent has one for the value that it returns, and one for each file of its memory; other JSON files are allowed. */
const maxSchemas = 20;

/** Paths of JSON files in an agent's config, before the config has been parsed. */
function namedSchemas(config: string): readonly string[] {
  const names = config.matchAll(new RegExp(`["'](${schemaFileName})["']`, "g"));
  return [...new Set([...names].map(([, name = ""]) => name))].slice(0, maxSchemas);
}

/** All schemas that an agent's config could name. Never throws. */
export async function listSchemas(projectDir: string, agent: string): Promise<readonly string[]> {
  const namesIn = (...folder: string[]) =>
    readdir(join(projectDir, "agents", agent, ...folder)).catch(() => []);
  const inFolder = (await namesIn(schemasFolder)).map((name) => `${schemasFolder}/${name}`);
  return [...(await namesIn()), ...inFolder].filter(isSchemaFileName).slice(0, maxSchemas);
}

/** Files of an agent's directory, checked. Never throws. */
export async function readSchemas(
  projectDir: string,
  agent: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SchemaFile>> {
  const read = async (name: string) => {
    const path = join(projectDir, "agents", agent, name);
    return [name, await checked(await readText(path, projectDir, maxConfigBytes))] as const;
  };
  return new Map(await Promise.all(names.map(read)));
}

async function checked(file: FileText): Promise<SchemaFile> {
  if (file.type !== "text") return file;
  // Loaded only for agents with a schema.
  const { schemaProblem } = await import("./value-schema.ts");
  const problem = schemaProblem(file.text);
  return problem === null ? file : { type: "invalid", problem };
}
