import { join } from "node:path";
import { runtimeTypes } from "../../../../streams/runtimes.ts";
import { problemText } from "../../../../streams/problem-text.ts";
import type { Diagnostic } from "../../../../streams/vocabulary.ts";
import { isAgentName, readBareSkill } from "../../../foundation/config/agent-files.ts";
import type { AgentFiles } from "../../../foundation/config/agent-files.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { checkAgent, loadProject, refuseProblems } from "../../../runtime/agents/project-files.ts";
import { newAgentRuntime, newConfigText, runtimeTable } from "../agent/choose-agent.ts";
import type { Context } from "../context.ts";
import { noConfig } from "./config-file.ts";
import { writeSchemas } from "../../../runtime/agents/editor-schemas.ts";
import { unwritable, writeNew } from "../write-files.ts";
import { edited, refuseUnset, type Edit } from "../../../foundation/config/edit-toml.ts";

/** The directory of that name if it has a SKILL.md and no `config.toml`; null for others. */
export async function openBareSkill(projectDir: string, name: string): Promise<AgentFiles | null> {
  return isAgentName(name) ? readBareSkill(projectDir, name) : null;
}

/** Makes a missing `config.toml` by the edits. Writes nothing invalid. */
export async function makeConfig(
  { out, projectDir }: Context,
  files: AgentFiles,
  edits: readonly Edit[],
): Promise<void> {
  const { name } = files;
  if (edits.length === 0) throw noConfig(name);
  const project = await loadProject(projectDir);
  const path = join(projectDir, "agents", name, "config.toml");
  const text = textBy(edits, project, path);
  const problems = problemsWith(files, text, project);
  refuseProblems(problems);
  await writeNew(path, { content: text }).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  await writeSchemas(projectDir);
  for (const problem of problems) out.note(`warning: ${problemText(problem)}`);
  const changed = edits.map(({ path: key }) => key.join("."));
  out.answer({ file: path, changed }, `${path} is made`);
}

/** The config of an agent with the project's only model and without a trigger, with the edits applied. */
function textBy(edits: readonly Edit[], project: ProjectConfig, path: string): string {
  const models = Object.keys(project.models);
  const type = edits.findLast(({ path: key }) => key.join(".") === "runtime.type")?.value;
  const text = newConfigText({
    // With several models the person chooses; without one the file has an error that says so.
    models: models.length === 1 ? models : [],
    credentials: [],
    schedule: null,
    webhooks: [],
    callable: false,
    timeout: null,
    runtime: runtimeTable(runtimeTypes.find((one) => one === type) ?? newAgentRuntime),
  });
  refuseUnset({ path, text }, edits);
  return edited(text, edits);
}

/** The problems of the text alone, without those of SKILL.md. */
function problemsWith(files: AgentFiles, config: string, project: ProjectConfig): Diagnostic[] {
  const { problems } = checkAgent({ ...files, problems: [], config }, project);
  return problems.filter(({ file }) => file === `agents/${files.name}/config.toml`);
}
