import { problemSummary, problemText } from "../../streams/problem-text.ts";
import { newRecord } from "../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import { bareSkillProblem, listAgents, readAgent, readBareSkill } from "../config/agent-files.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import { readProject } from "../config/read-project.ts";
import { resolveAgent } from "../config/resolve-agent.ts";
import { resolveProject } from "../config/resolve-project.ts";
import { messageOf } from "../errors.ts";
import { knownToAgents } from "../known-to-agents.ts";
import { filterTable } from "../webhooks/providers/table.ts";

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
  const { names } = await listAgents(projectDir);
  const agents: AgentRecord[] = [];
  const warnings: string[] = [];
  for (const name of names) {
    const record = await recordOf(projectDir, name, project);
    if (record !== null) agents.push(record);
    else if ((await readBareSkill(projectDir, name)) !== null) {
      warnings.push(problemText(bareSkillProblem(name)));
    }
  }
  return { project, error, warnings, agents };
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

/** Null for a directory that is no agent. */
async function recordOf(
  projectDir: string,
  name: string,
  project: ProjectConfig | null,
): Promise<AgentRecord | null> {
  const files = await readAgent(projectDir, name);
  if (files === null) return null;
  const record = newRecord(name);
  if (project === null) return record;
  const change = resolveAgent(files, project, knownToAgents());
  if (change.type === "set") return { ...record, config: change.agent };
  if (change.type === "removed") return null;
  const errors = change.problems.filter(({ severity }) => severity === "error");
  return { ...record, configError: problemSummary(errors) ?? "invalid config" };
}
