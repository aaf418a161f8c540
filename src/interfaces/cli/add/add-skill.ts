import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "smol-toml";
import { agentNameProblem } from "../../../foundation/config/agent-files.ts";
import { loadProject } from "../../../foundation/config/load-project.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { UserError } from "../../../foundation/errors.ts";
import { fetchRepository } from "../../../features/skills/fetch-repository.ts";
import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import {
  parseSkillSource,
  repositoryName,
  skillSourceText,
} from "../../../features/skills/skill-source.ts";
import type { SkillSource } from "../../../features/skills/skill-source.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import { filterTable } from "../../../features/webhooks/providers/table.ts";
import type { Context } from "../context.ts";
import { interrupted } from "../stop-signals.ts";
import { missingFlag, openPrompts } from "../terminal/prompts.ts";
import type { Prompts } from "../terminal/prompts.ts";
import { schemaLine, writeSchemas } from "../../operations/editor-schemas.ts";
import { saveInstalled } from "../update/installed-files.ts";
import { agentNameFor, chooseSkill } from "./choose-skill.ts";
import { refuseFaults } from "../refuse-faults.ts";
import { renderReview, reviewOf } from "./review.ts";
import type { Review } from "./review.ts";
import { readSkill } from "./read-skill.ts";
import type { ReadSkill } from "./read-skill.ts";
import { writeDirectory } from "../write-files.ts";
import type { NewFile, NewFiles } from "../write-files.ts";

export interface AddOptions {
  readonly skill?: string;
  readonly name?: string;
  readonly yes?: true;
}

/** What is to be written. */
interface NewAgent {
  readonly name: string;
  readonly skill: ReadSkill;
  readonly source: string;
  readonly commit: string;
  readonly model: string;
  readonly config: string;
}

/**
 * Makes an agent of a skill from a git repository, after showing what it is. Overwrites nothing; throws a UserError
 * when it can't, and then nothing was written.
 */
export async function addSkill(
  context: Context,
  given: string,
  options: AddOptions,
): Promise<void> {
  const { project } = await loadProject(context.projectDir, filterTable);
  const source = parseSkillSource(given, process.cwd());
  const prompts = await openPrompts(context);
  context.out.note(`fetching ${source.url} …`);
  const signal = interrupted();
  const repository = await fetchRepository(source.url, { env: context.env, signal });
  try {
    const agent = await prepare(context, { project, source, repository, prompts, options });
    const review = reviewOf(agent.skill);
    context.out.note(renderReview(review, agent, context.out.colors));
    if (!options.yes) await confirm(prompts, agent.name);
    await writeDirectory(join(context.projectDir, "agents", agent.name), filesOf(agent), {
      // On the same disk, and not watched.
      draftsDir: ensureStateDir(context.projectDir),
      hint: "make the project's directory writable for you",
    });
    const { commit, skill } = agent;
    await saveInstalled(context.projectDir, agent.name, { commit, files: skill.files });
    await writeSchemas(context.projectDir);
    report(context, agent, review);
  } finally {
    await repository.remove();
  }
}

function filesOf({ skill, config }: NewAgent): NewFiles {
  return new Map([
    ...skill.files.map((file): [string, NewFile] => [file.path, file]),
    ["config.toml", { content: config }],
  ]);
}

interface Wanted {
  readonly project: ProjectConfig;
  readonly source: SkillSource;
  readonly repository: FetchedRepository;
  readonly prompts: Prompts | null;
  readonly options: AddOptions;
}

async function prepare({ projectDir }: Context, wanted: Wanted): Promise<NewAgent> {
  const { project, source, repository, prompts, options } = wanted;
  const { head: commit } = repository;
  const entries = await repository.files(commit);
  const { found, isOnlyOne } = await chooseSkill(entries, source, options.skill ?? null, prompts);
  const name = agentNameFor(found, source, options.name ?? null);
  const problem = agentNameProblem(name);
  if (problem !== null) {
    throw new UserError("usage", problem, { hint: "give another with --name", exitCode: 2 });
  }
  await refuseExisting(projectDir, name);
  const skill = await readSkill(repository, entries, found);
  const sourceText = skillSourceText(
    source,
    isOnlyOne ? null : (found.name ?? repositoryName(source)),
  );
  const model = firstModel(project);
  const config = agentConfigText({ source: sourceText, commit, model });
  refuseFaults({ name, config, skill: skill.text }, project, {
    hint: "nothing was written",
  });
  return { name, skill, source: sourceText, commit, model, config };
}

function firstModel({ models }: ProjectConfig): string {
  const [first] = Object.keys(models);
  if (first !== undefined) return first;
  throw new UserError("no_model", "the project has no model that the agent could use", {
    hint: "al config --set models.claude.provider=anthropic --set models.claude.model=claude-sonnet-4-5",
  });
}

async function refuseExisting(projectDir: string, name: string): Promise<void> {
  const dir = join(projectDir, "agents", name);
  if ((await lstat(dir).catch(() => null)) === null) return;
  throw new UserError("exists", `${dir} is there already; nothing was written`, {
    hint: `al update ${name} brings what is new, if it came from there; --name <name> adds a second one`,
  });
}

async function confirm(prompts: Prompts | null, name: string): Promise<void> {
  if (prompts === null)
    throw missingFlag("--yes", `${name} is a program that you have not written`);
  if (await prompts.confirm(`Add it as agents/${name}?`)) return;
  throw new UserError("refused", "nothing was added");
}

function report({ out }: Context, agent: NewAgent, review: Review): void {
  const { name, source, commit, model } = agent;
  const files = [...review.files.map(({ path }) => path), "config.toml"].map(
    (path) => `agents/${name}/${path}`,
  );
  if (out.json) {
    return out.document({
      agent: name,
      source,
      sourceCommit: commit,
      models: [model],
      files,
      review,
    });
  }
  for (const file of files) out.data(file);
  out.note(`
${name} is added. Nothing starts it yet: scale = 0 disables it. Choose when it runs:
  al config ${name} --set 'schedule=0 9 * * *' --unset scale
or, for calls of other agents and for people only:
  al config ${name} --set callable=true --unset scale
then try it:
  al run ${name}
It runs in a container. To run it as you, who can read all your files:
  al config ${name} --set runtime.type=host-user --set 'runtime.run_as=$USER'`);
}

/** Where an agent comes from, and the model that it begins with. */
interface AgentOrigin {
  readonly source: string;
  /** In hex. */
  readonly commit: string;
  readonly model: string;
}

/**
 * The `config.toml` of an agent that was just added: valid, and disabled until the person chooses what starts it. What a
 * stranger wrote gets a container, and no credential.
 */
function agentConfigText({ source, commit, model }: AgentOrigin): string {
  return `${schemaLine("agent", "../../")}

# Where al update finds what is new, and what it was when it was taken.
${stringify({ source, sourceCommit: commit }).trim()}

${stringify({ models: [model], credentials: [] }).trim()}

# Disabled, because nothing would start it: add schedule = "0 9 * * *", [[webhooks]] or callable = true (other agents
# call it, or people start it), and take this out.
scale = 0

[runtime]
type = "container"
`;
}
