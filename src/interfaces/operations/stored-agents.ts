import { problemSummary, problemText } from "../../../streams/problem-text.ts";
import { newRecord } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { bareSkillProblem } from "../../foundation/config/agent-files.ts";
import type { AgentFiles } from "../../foundation/config/agent-files.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { readAllAgents } from "../../foundation/config/read-all-agents.ts";
import { readProject } from "../../foundation/config/read-project.ts";
import { resolveAgent } from "../../foundation/config/resolve-agent.ts";
import { resolveProject } from "../../foundation/config/resolve-project.ts";
import { messageOf } from "../../foundation/errors.ts";
import { knownToAgents } from "./known-to-agents.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";

/** A project as its files are, read once. */
export interface ProjectFiles {
  /** Null while its `config.toml` can't be used. */
  readonly project: ProjectConfig | null;
  /** Why it can't. */
  readonly error: string | null;
  /** Directories that are no agents yet. */
  readonly warnings: readonly string[];
  /** Known by name alone without a project. */
  readonly agents: readonly AgentRecord[];
}

/** Reads a project's files. A fault in them is part of the result, and never thrown. */
export async function readProjectFiles(projectDir: string): Promise<ProjectFiles> {
  const { project, error } = await projectAt(projectDir);
  const { agents, bareSkills } = await readAllAgents(projectDir);
  return {
    project,
    error,
    warnings: bareSkills.map((name) => problemText(bareSkillProblem(name))),
    agents: [...agents.values()].map((files) => recordOf(files, project)),
  };
}

async function projectAt(projectDir: string): Promise<Pick<ProjectFiles, "project" | "error">> {
  try {
    const change = resolveProject(await readProject(projectDir), filterTable);
    if (change.type === "set") return { project: change.project, error: null };
    return { project: null, error: problemSummary(change.problems) };
  } catch (error) {
    return { project: null, error: messageOf(error) };
  }
}

function recordOf(files: AgentFiles, project: ProjectConfig | null): AgentRecord {
  const record = newRecord(files.name);
  if (project === null) return record;
  const change = resolveAgent(files, project, knownToAgents());
  if (change.type === "set") return { ...record, config: change.agent };
  const errors = change.problems.filter(({ severity }) => severity === "error");
  return { ...record, configError: problemSummary(errors) ?? "invalid config" };
}
