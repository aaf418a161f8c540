import { existsSync } from "node:fs";
import { join } from "node:path";
import { problemText } from "../../../../streams/problem-text.ts";
import type { Problem } from "../../../../streams/vocabulary.ts";
import { listAgents, readAgent } from "../../../foundation/config/agent-files.ts";
import { loadProject } from "../../../foundation/config/load-project.ts";
import { readProject } from "../../../foundation/config/read-project.ts";
import { resolveAgent } from "../../../foundation/config/resolve-agent.ts";
import { resolveProject } from "../../../foundation/config/resolve-project.ts";
import { listSchemas, readSchemas } from "../../../foundation/config/schema-files.ts";
import { UserError } from "../../../foundation/errors.ts";
import { replaceText } from "../../../foundation/files/replace-file.ts";
import { knownToAgents } from "../../operations/known-to-agents.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { unknownAgent } from "../operator/connect.ts";
import { unwritable } from "../write-files.ts";
import { agentTomlKeys, projectTomlKeys } from "./toml-keys.ts";

/** A `config.toml` that is looked at or changed. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** What is wrong with a text in this file's place, and the active config with it. */
  readonly judge: (text: string) => Judgement;
}

export interface Judgement {
  readonly problems: readonly Problem[];
  /** With all defaults, and the keys that the file has; null when it has errors. */
  readonly effective: object | null;
}

/** The project's `config.toml`, or with `agent` that of an agent. Throws a UserError when there is none. */
export function openConfig(projectDir: string, agent: string | null): Promise<ConfigFile> {
  return agent === null ? openProject(projectDir) : openAgent(projectDir, agent);
}

async function openProject(projectDir: string): Promise<ConfigFile> {
  const file = await readProject(projectDir);
  return {
    path: join(projectDir, "config.toml"),
    text: file.text,
    judge: (text) => {
      const change = resolveProject({ ...file, text }, filterTable);
      return change.type === "invalid"
        ? { problems: change.problems, effective: null }
        : { problems: change.warnings, effective: projectTomlKeys(change.project, projectDir) };
    },
  };
}

async function openAgent(projectDir: string, name: string): Promise<ConfigFile> {
  const { project } = await loadProject(projectDir, filterTable);
  const { names } = await listAgents(projectDir);
  const files = names.includes(name) ? await readAgent(projectDir, name) : null;
  if (files === null) throw unknownAgent(name, namesOfAgents(projectDir, names));
  const path = join(projectDir, "agents", name, "config.toml");
  if (files.config === null) {
    throw new UserError("unreadable_file", `${path} can't be read`, { hint: "al doctor says why" });
  }
  const known = knownToAgents();
  const schemas = await readSchemas(projectDir, name, await listSchemas(projectDir, name));
  return {
    path,
    text: files.config,
    judge: (config) => {
      const change = resolveAgent({ ...files, config, schemas }, project, known);
      return change.type === "invalid"
        ? { problems: change.problems, effective: null }
        : { problems: change.warnings, effective: agentTomlKeys(change.agent, projectDir) };
    },
  };
}

/** The directories that al config can work with. */
function namesOfAgents(projectDir: string, names: readonly string[]): string[] {
  const hasOne = (name: string) =>
    ["config.toml", "SKILL.md"].some((file) => existsSync(join(projectDir, "agents", name, file)));
  return names.filter(hasOne);
}

/** A file that is broken already may be fixed one thing at a time. */
export function newProblems(file: ConfigFile, text: string): Problem[] {
  const before = new Set(file.judge(file.text).problems.map(({ message }) => message));
  return file.judge(text).problems.filter(({ message }) => !before.has(message));
}

/** An unknown key is refused too: the user meant another one. */
export function isRefused({ severity, message }: Problem): boolean {
  return severity === "error" || message.startsWith("unknown key");
}

/** Throws a UserError when one of the problems forbids to write. */
export function refuseProblems(problems: readonly Problem[]): void {
  const refused = problems.filter(isRefused);
  if (refused.length === 0) return;
  throw new UserError("invalid_config", refused.map(problemText).join("\n"), {
    hint: "nothing was written",
  });
}

/** Replaces the file's text and keeps its mode. Throws a UserError. */
export async function writeConfig({ path }: ConfigFile, text: string): Promise<void> {
  try {
    await replaceText(path, text);
  } catch (error) {
    throw unwritable(path, error);
  }
}
