import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  listAgents,
  readAgent,
  listSchemas,
  readSchemas,
} from "../../../foundation/config/agent-files.ts";
import { resolveProject } from "../../../foundation/config/resolve-project.ts";
import { readProject } from "../../../foundation/config/read-project.ts";
import { UserError } from "../../../foundation/errors.ts";
import { replaceText } from "../../../foundation/files/replace-file.ts";
import { checkAgent, loadProject } from "../../operations/project-files.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import { unknownAgent } from "../operator/connect.ts";
import { unwritable } from "../write-files.ts";
import { agentTomlKeys, projectTomlKeys } from "./toml-keys.ts";

/**
 * A `config.toml` that is looked at or changed, at an absolute path. `judge` has the problems of a text in its place, and the
 * active config with it: with all defaults and the keys of the file, null when it has errors.
 */
export type ConfigFile = Awaited<ReturnType<typeof openProject>>;

/** The project's `config.toml`, or with `agent` that of an agent. Throws a UserError if it is missing. */
export function openConfig(projectDir: string, agent: string | null): Promise<ConfigFile> {
  return agent === null ? openProject(projectDir) : openAgent(projectDir, agent);
}

async function openProject(projectDir: string) {
  const file = await readProject(projectDir);
  return {
    path: join(projectDir, "config.toml"),
    text: file.text,
    judge: (text: string) => {
      const change = resolveProject({ ...file, text }, filterTable);
      const { problems, project } =
        change.type === "invalid"
          ? { problems: change.problems, project: null }
          : { problems: change.warnings, project: change.project };
      return { problems, effective: project && projectTomlKeys(project, projectDir) };
    },
  };
}

async function openAgent(projectDir: string, name: string): Promise<ConfigFile> {
  const project = await loadProject(projectDir);
  const { names } = await listAgents(projectDir);
  const files = names.includes(name) ? await readAgent(projectDir, name) : null;
  if (files === null) throw unknownAgent(name, namesOfAgents(projectDir, names));
  const path = join(projectDir, "agents", name, "config.toml");
  if (files.config === null) {
    throw new UserError("unreadable_file", `${path} can't be read`, "al doctor says why");
  }
  const schemas = await readSchemas(projectDir, name, await listSchemas(projectDir, name));
  return {
    path,
    text: files.config,
    judge: (config) => {
      const agent = checkAgent({ ...files, config, schemas }, project);
      return {
        problems: agent.problems,
        effective: agent.config && agentTomlKeys(agent.config, projectDir),
      };
    },
  };
}

/** The directories that al config can work with. */
function namesOfAgents(projectDir: string, names: readonly string[]): string[] {
  const hasOne = (name: string) =>
    ["config.toml", "SKILL.md"].some((file) => existsSync(join(projectDir, "agents", name, file)));
  return names.filter(hasOne);
}

/** Replaces the file's text and keeps its mode. Throws a UserError. */
export async function writeConfig({ path }: ConfigFile, text: string): Promise<void> {
  try {
    await replaceText(path, text);
  } catch (error) {
    throw unwritable(path, error);
  }
}
