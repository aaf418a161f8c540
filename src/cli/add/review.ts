import { parse } from "smol-toml";
import { inlineCommandsIn } from "../../harness/inline-commands.ts";
import { hiddenCharacters } from "../../skills/hidden-characters.ts";
import type { HiddenCharacter } from "../../skills/hidden-characters.ts";
import type { ReadSkill, SkillFile } from "./read-skill.ts";

/** What a person should know of somebody's skill before it becomes an agent. */
export interface Review {
  readonly files: readonly ReviewedFile[];
  /** Beside the skill, and not taken. */
  readonly leftOut: readonly string[];
  /** Of these, what SKILL.md names. */
  readonly missed: readonly string[];
  /** Those of SKILL.md that run by themselves at the start of each run. */
  readonly commands: readonly string[];
  readonly hidden: readonly (HiddenCharacter & { readonly file: string })[];
  /** What a config.toml beside SKILL.md would set; null without one. Nothing of it is taken. */
  readonly proposal: Readonly<Record<string, unknown>> | null;
}

export interface ReviewedFile {
  readonly path: string;
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** More would not be read. */
const maxHidden = 20;

/** Looks through a skill, or those of its files that changed. */
export function reviewOf({ files, leftOut, proposal }: Omit<ReadSkill, "text">): Review {
  const text = files.find(({ path }) => path === "SKILL.md")?.content.toString("utf8") ?? "";
  return {
    files: files.map(({ path, content, isExecutable }) => ({
      path,
      bytes: content.byteLength,
      isExecutable,
    })),
    leftOut,
    missed: leftOut.filter((path) => text.includes(path)),
    commands: inlineCommandsIn(text),
    hidden: files.flatMap(hiddenIn),
    proposal: proposal === null ? null : tableOf(proposal),
  };
}

function hiddenIn({ path, content }: SkillFile): Review["hidden"] {
  // Pictures and programs have bytes of all kinds.
  if (content.includes(0)) return [];
  return hiddenCharacters(content.toString("utf8"), maxHidden).map((one) => ({
    ...one,
    file: path,
  }));
}

function tableOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
