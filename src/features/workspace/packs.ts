import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { draftName } from "../../foundation/files/replace-file.ts";
import { gitReason, type GitEnd, type GitOptions } from "../../foundation/files/run-git.ts";

/** How many packs a mirror keeps for further runs. */
const keptPacks = 4;

/** A commit of the mirror as a pack. */
export interface CommitPack {
  readonly commit: string;
  /** The branch that was asked for, or the default one; null for a tag and for a commit. */
  readonly branch: string | null;
  /** Commits whose parents are left out. */
  readonly shallow: readonly string[];
  /** Absolute paths; the files may be deleted when the mirror's next task begins. */
  readonly pack: string;
  readonly index: string;
}

/** Part of a mirror is missing or broken: it is made anew. */
export class Damaged extends Error {}

/** The bare repository of a mirror. */
export interface Repository {
  readonly dir: string;
  readonly maxBytes: number;
  readonly git: (
    args: readonly string[],
    more?: Partial<GitOptions>,
    input?: string,
  ) => Promise<GitEnd>;
}

/** The commits at the end of a history of this depth. */
export async function boundary({ git }: Repository, commit: string, depth: number) {
  if (depth === 0) return [];
  const seen = new Set([commit]);
  let level = [commit];
  for (let left = depth; left > 1 && level.length > 0; left -= 1) {
    const { ok, stdout } = await git(
      ["rev-list", "--no-walk=unsorted", "--parents", "--stdin"],
      {},
      `${level.join("\n")}\n`,
    );
    if (!ok) throw new Damaged("a commit is missing");
    const parents = stdout
      .toString()
      .split("\n")
      .flatMap((line) => line.split(" ").slice(1));
    level = [...new Set(parents)].filter((parent) => !seen.has(parent));
    for (const parent of level) seen.add(parent);
  }
  return level;
}

/** Packs the objects of the commit, or finds the pack of an earlier run. */
export async function storedPack(
  { dir, git }: Repository,
  commit: string,
  depth: number,
  shallow: readonly string[],
): Promise<Pick<CommitPack, "pack" | "index">> {
  const packs = join(dir, "packs");
  const folder = join(packs, `${commit}-${depth}`);
  const filesIn = (at: string) => ({ pack: join(at, "pack"), index: join(at, "index") });
  if (existsSync(folder)) {
    await utimes(folder, new Date(), new Date());
    return filesIn(folder);
  }
  const draft = join(packs, draftName());
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const lines = [...shallow.map((id) => `--shallow ${id}`), commit];
  const shape = ["--revs", ...(shallow.length > 0 ? ["--shallow"] : []), "--delta-base-offset"];
  const args = ["pack-objects", "--quiet", ...shape, join(draft, "made")];
  const { ok, stdout, stderr } = await git(args, {}, `${lines.join("\n")}\n`);
  if (!ok) {
    await rm(draft, { recursive: true, force: true });
    throw new Damaged(gitReason(stderr));
  }
  const made = join(draft, `made-${stdout.toString().trim()}`);
  await rename(`${made}.pack`, join(draft, "pack"));
  await rename(`${made}.idx`, join(draft, "index"));
  await rename(draft, folder);
  await removeOldPacks(packs);
  return filesIn(folder);
}

async function removeOldPacks(packs: string): Promise<void> {
  const names = await readdir(packs);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(packs, name))).mtimeMs })),
  );
  const old = dated.sort((a, b) => b.at - a.at).slice(keptPacks);
  for (const { name } of old) await rm(join(packs, name), { recursive: true, force: true });
}
