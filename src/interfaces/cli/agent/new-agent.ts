import { join } from "node:path";
import { loadProject } from "../../../runtime/agents/project-files.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { titleOf } from "../new/templates.ts";
import { openPrompts, missingFlag, type Prompts } from "../terminal/prompts.ts";
import { noteFirstSchedule, noteForecast } from "../config/note-forecast.ts";
import { writeSchemas } from "../../../runtime/agents/editor-schemas.ts";
import { writeDirectory, refuseFaults } from "../write-files.ts";
import { chooseConfig, newConfigText, type AgentOptions, type NewConfig } from "./choose-agent.ts";
import { existsSync } from "node:fs";
import { agentNameProblem, configCommand } from "../../../foundation/config/agent-files.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";

/** Makes an agent whose files have no error. Overwrites nothing; throws a Problem if it can't. */
export async function newAgent(
  context: Context,
  given: string | undefined,
  options: AgentOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const project = await loadProject(projectDir);
  const prompts = await openPrompts(context);
  const name = await chooseName(projectDir, given ?? null, prompts);
  const description =
    options.description ?? (await prompts?.text({ message: "What it does, in a sentence" })) ?? "";
  const agent = { name, description, ...(await chooseConfig(options, project, prompts)) };
  const texts = { config: newConfigText(agent), skill: skillOf(name, description) };
  refuseFaults({ name: agent.name, ...texts }, project, {
    hint: "nothing was written",
    exitCode: 2,
  });
  noteCosts(context, name, agent, project);
  const dir = join(projectDir, "agents", agent.name);
  const contents = new Map([
    ["SKILL.md", { content: texts.skill }],
    ["config.toml", { content: texts.config }],
  ]);
  // Drafts are on the same disk, and not watched.
  await writeDirectory(dir, contents, ensureStateDir(projectDir));
  await writeSchemas(projectDir);
  const files = ["SKILL.md", "config.toml"].map((file) => `agents/${agent.name}/${file}`);
  if (out.json) return out.document({ agent: agent.name, files });
  for (const file of files) out.data(file);
  out.note(`\nWrite what ${agent.name} does into ${files[0] ?? ""}; then: al run ${agent.name}`);
}

/** An agent of this name may have run before. */
function noteCosts(
  context: Context,
  agent: string,
  { schedule: expression, models }: NewConfig,
  { timezone, budget, models: known }: ProjectConfig,
): void {
  if (noteForecast(context, agent, { schedule: expression, timezone })) return;
  const isFree = models.every((model) => known[model]?.provider === "scripted");
  if (expression === null || isFree) return;
  noteFirstSchedule(context.out, { agent, expression, timezone, runUsd: budget.runUsd });
}

function skillOf(name: string, description: string): string {
  const about = description === "" ? "" : `description: ${JSON.stringify(description)}\n`;
  const task = description === "" ? "Describe here what the agent does, and how." : description;
  return `---\nname: ${titleOf(name)}\n${about}---\n\n${task}\n`;
}

/** The name of a new agent, whose directory must not exist yet. Throws a Problem before any further question. */
async function chooseName(
  projectDir: string,
  given: string | null,
  prompts: Prompts | null,
): Promise<string> {
  if (given === null) return askName(projectDir, prompts);
  const problem = agentNameProblem(given);
  if (problem !== null) throw usageError(problem);
  const dir = join(projectDir, "agents", given);
  if (!existsSync(dir)) return given;
  throw new Problem(
    "exists",
    `${dir} already exists; nothing was written`,
    whatIsThere(dir, given),
  );
}

async function askName(projectDir: string, prompts: Prompts | null): Promise<string> {
  if (prompts === null) throw missingFlag("the agent's name", "al agent new <name>");
  const problem = (name: string): string | null => {
    const dir = join(projectDir, "agents", name);
    return agentNameProblem(name) ?? (existsSync(dir) ? whatIsThere(dir, name) : null);
  };
  return prompts.text({ message: "Name of the agent", problem });
}

/** The hint for a directory that exists. */
function whatIsThere(dir: string, name: string): string {
  if (existsSync(join(dir, "config.toml")))
    return `Change the agent with \`al config ${name} --set\`.`;
  if (existsSync(join(dir, "SKILL.md"))) return `al ${configCommand(name)} creates its config.toml`;
  return "it contains no agent: move it away, or choose another name";
}
