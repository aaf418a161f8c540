import type { TreeEntry } from "./git-output.ts";

/** A skill of a repository. */
export interface FoundSkill {
  /** Its directory's name; null for the repository's top. */
  readonly name: string | null;
  /** The directory's path with a slash at its end; empty for the top. */
  readonly prefix: string;
}

/** The public layout of Agent Skills: SKILL.md at the top, in `skills/<name>/`, `agents/<name>/`, or in `<name>/`. Sorted by name. */
export function findSkills(entries: readonly TreeEntry[]): FoundSkill[] {
  const skills = entries.flatMap(({ path }): FoundSkill[] => {
    const [match, prefix = "", name = null] = layout.exec(path) ?? [];
    return match === undefined || name?.startsWith(".") ? [] : [{ name, prefix }];
  });
  return skills.sort((a, b) => (a.name ?? "").localeCompare(b.name ?? ""));
}

const layout = /^((?:(?:skills|agents)\/)?([^/]+)\/|)SKILL\.md$/;
