import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import { pickFiles, type FoundSkill } from "../../../features/skills/pick-files.ts";
import type { TreeEntry } from "../../../features/skills/git.ts";
import { Problem } from "../../../foundation/errors.ts";

/** A file of a skill with its content. */
export interface SkillFile {
  /** From the agent's directory; safe to write. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly content: Buffer;
  readonly entry: TreeEntry;
}

/** A skill as its source has it. */
export interface ReadSkill {
  readonly files: readonly SkillFile[];
  /** Paths in the skill's directory that are not added. */
  readonly leftOut: readonly string[];
  /** The text of SKILL.md. */
  readonly text: string;
  /** The config.toml beside SKILL.md, which is shown but not added; null without one. */
  readonly proposal: string | null;
}

const maxProposalBytes = 64 * 1024;

/** Reads the files of a skill that are added. Throws a Problem for an unsafe one. */
export async function readSkill(
  repository: FetchedRepository,
  entries: readonly TreeEntry[],
  found: FoundSkill,
): Promise<ReadSkill> {
  const { files, leftOut } = pickFiles(entries, found);
  const proposal = leftOut.find(
    ({ path, kind, size }) => path === "config.toml" && kind === "file" && size <= maxProposalBytes,
  );
  const asked = [...files, ...(proposal === undefined ? [] : [proposal])];
  const contents = await repository.contents(asked);
  const read = files.map((entry, index) => {
    const content = contents[index] ?? Buffer.alloc(0);
    return { path: entry.path, isExecutable: entry.kind === "executable", content, entry };
  });
  return {
    files: read,
    leftOut: leftOut.map(({ path }) => path),
    text: utf8(read.find(({ path }) => path === "SKILL.md")?.content ?? Buffer.alloc(0)),
    proposal: proposal === undefined ? null : (contents[files.length]?.toString("utf8") ?? null),
  };
}

function utf8(content: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new Problem(
      "unsafe_skill",
      "the skill is refused: its SKILL.md is not UTF-8 text",
      "nothing was written; ask the skill's author",
    );
  }
}
