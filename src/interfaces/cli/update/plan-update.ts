import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { problemText } from "../../../../streams/problem-text.ts";
import { parseSkill } from "../../../foundation/config/skill.ts";
import { Problem, isMissing } from "../../../foundation/errors.ts";
import { compareFiles, contentId, notAFile } from "../../../features/skills/compare-files.ts";
import type { Contents, FileChange } from "../../../features/skills/compare-files.ts";
import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import { pickFiles, findSkills, type FoundSkill } from "../../../features/skills/pick-files.ts";
import type { TreeEntry } from "../../../features/skills/git.ts";
import { repositoryName, type SkillSource } from "../../../features/skills/skill-source.ts";
import { packageVersion } from "../../../foundation/version.ts";
import { readSkill } from "../add/read-skill.ts";
import type { AgentSource } from "./agent-source.ts";

export type UpdatePlan = Awaited<ReturnType<typeof planUpdate>>;

/**
 * Compares an agent with its source. `base` are the skill's files as installed, null if they are lost; `diff` is that of
 * SKILL.md from the first `@@` on, null if unchanged. Throws a Problem if the source can't be used.
 */
export async function planUpdate(from: AgentSource, repository: FetchedRepository) {
  const { head: commit } = repository;
  const entries = await repository.files(commit);
  const before = await installedEntries(from, repository);
  const found = skillIn(entries, before, from);
  const skill = await readSkill(repository, entries, found);
  const base =
    before === null
      ? await savedFiles(from, repository)
      : baseFiles(before, skillIn(before, entries, from));
  const next = idsOf(skill.files.map(({ entry }) => entry));
  const wasThere = base === null ? null : idsOf(base.values());
  const paths = new Set([...next.keys(), ...(wasThere?.keys() ?? [])]);
  const local = await localFiles(dirname(from.file.path), paths, commit.length);
  const changes = compareFiles(wasThere, next, local);
  if (changes.some(({ path }) => path === "SKILL.md")) refuseFaults(from.agent, skill.text);
  const diff = await diffOf(from, changes, base, [next, local], repository);
  return { from, commit, skill, changes, base, diff };
}

/** Null if the commit is unknown, or missing at the source. */
async function installedEntries(
  { commit }: AgentSource,
  repository: FetchedRepository,
): Promise<readonly TreeEntry[] | null> {
  if (commit === null) return null;
  const isThere = commit === repository.head || (await repository.fetchCommit(commit));
  return isThere ? repository.files(commit) : null;
}

/** The skill as saved at its installation. */
async function savedFiles(
  { savedDir }: AgentSource,
  repository: FetchedRepository,
): Promise<ReadonlyMap<string, TreeEntry> | null> {
  const saved = savedDir === null ? null : await repository.commitDirectory(savedDir);
  if (saved === null) return null;
  return baseFiles(await repository.files(saved), { name: null, prefix: "" });
}

function baseFiles(
  entries: readonly TreeEntry[],
  found: FoundSkill,
): ReadonlyMap<string, TreeEntry> {
  return new Map(pickFiles(entries, found).files.map((entry) => [entry.path, entry]));
}

/** The skill named by the source, or the only one, or the one in the place of the other commit's only one. */
function skillIn(
  entries: readonly TreeEntry[],
  others: readonly TreeEntry[] | null,
  { source, text }: AgentSource,
): FoundSkill {
  const skills = findSkills(entries);
  const only = onlySkill(skills, source) ?? onlySkill(findSkills(others ?? []), source);
  const found = skills.find(({ prefix }) => prefix === only?.prefix);
  if (found !== undefined) return found;
  const names = skills.map(({ name }) => name ?? repositoryName(source)).join(", ");
  throw new Problem(
    "no_skill",
    `${text} no longer has this skill`,
    names === ""
      ? "the repository has no skills"
      : `it has ${names}: source = "…#<name>" in config.toml names one`,
  );
}

function onlySkill(skills: readonly FoundSkill[], source: SkillSource): FoundSkill | undefined {
  if (source.skill === null) return skills.length === 1 ? skills[0] : undefined;
  return skills.find(({ name }) => (name ?? repositoryName(source)) === source.skill);
}

function idsOf(entries: Iterable<TreeEntry>): Contents {
  return new Map([...entries].map(({ path, id }) => [path, id]));
}

/** The scheduler's own validation, before anything is written. */
function refuseFaults(agent: string, text: string): void {
  const { skill, problems } = parseSkill(`agents/${agent}/SKILL.md`, text, packageVersion());
  if (skill !== null) return;
  throw new Problem(
    "invalid_config",
    problems.map(problemText).join("\n"),
    "the source's newest version has this error; nothing was written",
  );
}

/** The changes at the source; without the installed version, the difference between the source's files and the agent's own. */
async function diffOf(
  { file }: AgentSource,
  changes: readonly FileChange[],
  base: ReadonlyMap<string, TreeEntry> | null,
  [next, local]: readonly [Contents, Contents],
  repository: FetchedRepository,
): Promise<string | null> {
  if (!changes.some(({ path }) => path === "SKILL.md")) return null;
  const isReadable = base === null && (local.get("SKILL.md") ?? notAFile) !== notAFile;
  const own = isReadable ? await readFile(join(dirname(file.path), "SKILL.md")) : Buffer.alloc(0);
  const before = base?.get("SKILL.md")?.id ?? (await repository.store(own));
  return repository.diff(before, next.get("SKILL.md") ?? "");
}

/** Larger than any file accepted from a skill. */
const maxBytes = 64 * 1024 ** 2;

/** The content ids of an agent's files, except files reached through a link. `idLength` is that of the repository's ids. */
async function localFiles(
  agentDir: string,
  paths: Iterable<string>,
  idLength: number,
): Promise<Contents> {
  const ids = new Map<string, string>();
  for (const path of paths) {
    const kind = await kindOf(agentDir, path);
    if (kind === "other") ids.set(path, notAFile);
    if (kind === "file") ids.set(path, contentId(await readFile(join(agentDir, path)), idLength));
  }
  return ids;
}

async function kindOf(agentDir: string, path: string): Promise<"file" | "missing" | "other"> {
  const parts = path.split("/");
  for (const [index] of parts.entries()) {
    const place = join(agentDir, ...parts.slice(0, index + 1));
    const isLast = index === parts.length - 1;
    try {
      const stat = await lstat(place);
      if (isLast) return stat.isFile() && stat.size <= maxBytes ? "file" : "other";
      if (!stat.isDirectory()) return "other";
    } catch (error) {
      if (isMissing(error)) return "missing";
      throw error;
    }
  }
  return "other";
}
