import { UserError } from "../../../foundation/errors.ts";
import { findSkills } from "../../../features/skills/find-skills.ts";
import type { FoundSkill } from "../../../features/skills/find-skills.ts";
import type { TreeEntry } from "../../../features/skills/git-output.ts";
import { repositoryName } from "../../../features/skills/skill-source.ts";
import type { SkillSource } from "../../../features/skills/skill-source.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { missingFlag } from "../terminal/prompts.ts";
import type { Prompts } from "../terminal/prompts.ts";

interface ChosenSkill {
  readonly found: FoundSkill;
  /** The repository has no other. */
  readonly isOnlyOne: boolean;
}

/** The skill by the flag, by the source, as the only one, or by the person. Throws a UserError when there is none. */
export async function chooseSkill(
  entries: readonly TreeEntry[],
  source: SkillSource,
  given: string | null,
  prompts: Prompts | null,
): Promise<ChosenSkill> {
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
export function agentNameFor(found: FoundSkill, source: SkillSource, given: string | null): string {
  if (given !== null) return given;
  const name = found.name ?? repositoryName(source);
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
}

function noSkill({ url }: SkillSource): UserError {
  return new UserError("no_skill", `${url} has no skill`, {
    hint: "expected SKILL.md at its top, in skills/<name>/, agents/<name>/ or <name>/",
  });
}

function unknownSkill(wanted: string, names: readonly string[]): UserError {
  return new UserError("no_skill", `the repository has no skill ${JSON.stringify(wanted)}`, {
    hint: meantOr(wanted, names, `it has ${names.join(", ")}`),
  });
}
