import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "smol-toml";
import { noModel } from "../agent/choose-agent.ts";
import { agentNameProblem } from "../../../foundation/config/agent-files.ts";
import { loadProject } from "../../../runtime/agents/project-files.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import { fetchRepository } from "../../../features/skills/fetch-repository.ts";
import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import {
  parseSkillSource,
  repositoryName,
  skillSourceText,
} from "../../../features/skills/skill-source.ts";
import type { SkillSource } from "../../../features/skills/skill-source.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { interrupted } from "../stop-signals.ts";
import { mustConfirm, openPrompts, missingFlag, type Prompts } from "../terminal/prompts.ts";
import { schemaLine, writeSchemas } from "../../../runtime/agents/editor-schemas.ts";
import { saveInstalled } from "../update/agent-source.ts";
import { renderReview, reviewOf, type Review } from "./review.ts";
import { readSkill } from "./read-skill.ts";
import { writeDirectory, refuseFaults, type NewFile, type NewFiles } from "../write-files.ts";
import { findSkills, type FoundSkill } from "../../../features/skills/pick-files.ts";
import type { TreeEntry } from "../../../features/skills/git.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";

export interface AddOptions {
  readonly skill?: string;
  readonly name?: string;
  readonly yes?: true;
}

type NewAgent = Awaited<ReturnType<typeof prepare>>;

/**
 * Makes an agent of a skill from a git repository, after showing its files. Overwrites nothing; throws a Problem on
 * failure, in which case nothing was written.
 */
export async function addSkill(
  context: Context,
  given: string,
  options: AddOptions,
): Promise<void> {
  const project = await loadProject(context.projectDir);
  const source = parseSkillSource(given, process.cwd());
  const prompts = await openPrompts(context);
  context.out.note(`fetching ${source.url} …`);
  const signal = interrupted();
  const repository = await fetchRepository(source.url, { env: context.env, signal });
  try {
    const agent = await prepare(context, project, source, repository, prompts, options);
    const review = reviewOf(agent.skill);
    context.out.note(renderReview(review, agent, context.out.colors));
    if (!options.yes) {
      await mustConfirm(prompts, {
        question: `Add it as agents/${agent.name}?`,
        why: `${agent.name} is a program that someone else wrote`,
        refused: "nothing was added",
      });
    }
    const dir = join(context.projectDir, "agents", agent.name);
    // Drafts are on the same disk, and not watched.
    await writeDirectory(dir, filesOf(agent), ensureStateDir(context.projectDir));
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

/** Checks everything before anything is written. */
async function prepare(
  { projectDir }: Context,
  project: ProjectConfig,
  source: SkillSource,
  repository: FetchedRepository,
  prompts: Prompts | null,
  options: AddOptions,
) {
  const { head: commit } = repository;
  const entries = await repository.files(commit);
  const { found, isOnlyOne } = await chooseSkill(entries, source, options.skill ?? null, prompts);
  const name = agentNameFor(found, source, options.name ?? null);
  const problem = agentNameProblem(name);
  if (problem !== null) {
    throw usageError(problem, "Choose another one with `--name <name>`.");
  }
  await refuseExisting(projectDir, name);
  const skill = await readSkill(repository, entries, found);
  const sourceText = skillSourceText(
    source,
    isOnlyOne ? null : (found.name ?? repositoryName(source)),
  );
  const model = firstModel(project);
  const config = agentConfigText(sourceText, commit, model);
  refuseFaults({ name, config, skill: skill.text }, project, { hint: "nothing was written" });
  return { name, skill, source: sourceText, commit, model, config };
}

function firstModel({ models }: ProjectConfig): string {
  const [first] = Object.keys(models);
  if (first !== undefined) return first;
  throw noModel();
}

async function refuseExisting(projectDir: string, name: string): Promise<void> {
  const dir = join(projectDir, "agents", name);
  if ((await lstat(dir).catch(() => null)) === null) return;
  throw new Problem(
    "exists",
    `${dir} already exists; nothing was written`,
    `If it came from there, update it with \`al update ${name}\`. Add a second one with \`--name <name>\`.`,
  );
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

/**
 * The `config.toml` of an agent that was just added: valid, and disabled until the person chooses its triggers. A
 * stranger's skill gets a container and no credential.
 */
function agentConfigText(source: string, commit: string, model: string): string {
  return `${schemaLine("agent", "../../")}

# Where al update looks for changes, and the commit that was copied.
${stringify({ source, sourceCommit: commit }).trim()}

${stringify({ models: [model], credentials: [] }).trim()}

# Disabled, because nothing would start it: add schedule = "0 9 * * *", [[webhooks]] or callable = true (other agents
# call it, or people start it), and take this out.
scale = 0

[runtime]
type = "container"
`;
}

/** The skill by the flag, by the source, as the only one, or by the person's choice. Throws a Problem without one. */
async function chooseSkill(
  entries: readonly TreeEntry[],
  source: SkillSource,
  given: string | null,
  prompts: Prompts | null,
) {
  const skills = findSkills(entries);
  const [first] = skills;
  if (first === undefined) throw noSkill(source);
  const isOnlyOne = skills.length === 1;
  const nameOf = ({ name }: FoundSkill) => name ?? repositoryName(source);
  const wanted = given ?? source.skill;
  if (wanted !== null) {
    const found = skills.find((skill) => nameOf(skill) === wanted);
    if (found === undefined) throw unknownSkill(wanted, skills.map(nameOf));
    return { found, isOnlyOne };
  }
  if (isOnlyOne) return { found: first, isOnlyOne };
  const names = skills.map(nameOf);
  if (prompts === null) throw missingFlag("--skill", `the repository has ${names.join(", ")}`);
  const chosen = await prompts.choose(
    "Which skill",
    names.map((value) => ({ value, name: value })),
  );
  return { found: skills.find((skill) => nameOf(skill) === chosen) ?? first, isOnlyOne };
}

/** The agent's name: the flag's, or the skill's or repository's in small letters with dashes. */
function agentNameFor(found: FoundSkill, source: SkillSource, given: string | null): string {
  if (given !== null) return given;
  const name = found.name ?? repositoryName(source);
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function noSkill({ url }: SkillSource): Problem {
  return new Problem(
    "no_skill",
    `${url} has no skill`,
    "Put SKILL.md at its top, in skills/<name>/, agents/<name>/ or <name>/.",
  );
}

function unknownSkill(wanted: string, names: readonly string[]): Problem {
  return new Problem(
    "no_skill",
    `the repository has no skill ${JSON.stringify(wanted)}`,
    meantOr(wanted, names, `It has ${names.join(", ")}.`),
  );
}
