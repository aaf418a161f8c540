import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { FileChange } from "../../../features/skills/compare-files.ts";
import type { SkillFile } from "../add/read-skill.ts";
import { writeConfig } from "../config/config-file.ts";
import { edited } from "../../../foundation/config/edit-toml.ts";
import { replaceFile } from "../../../foundation/files/replace-file.ts";
import { unwritable } from "../write-files.ts";
import { saveInstalled } from "./agent-source.ts";
import type { UpdatePlan } from "./plan-update.ts";
import type { FetchedRepository } from "../../../features/skills/fetch-repository.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/**
 * Writes the changed files of the source, each in one step, then the new `sourceCommit`. Files changed here stay. Throws
 * a Problem on failure; the next update then continues from there.
 */
export async function applyUpdate(
  projectDir: string,
  { from, commit, skill, changes }: UpdatePlan,
): Promise<void> {
  const agentDir = dirname(from.file.path);
  const files = new Map(skill.files.map((file) => [file.path, file]));
  // SKILL.md last, when the files that it names exist.
  const ordered = changes
    .filter(({ isLocal }) => !isLocal)
    .sort((a, b) => Number(a.path === "SKILL.md") - Number(b.path === "SKILL.md"));
  try {
    for (const { path } of ordered) await replace(agentDir, path, files.get(path));
  } catch (error) {
    throw unwritable(agentDir, error, "make it writable for you and run the command again");
  }
  await saveInstalled(projectDir, from.agent, { commit, files: skill.files });
  const text = edited(from.file.text, [{ path: ["sourceCommit"], value: commit }]);
  await writeConfig(from.file, text);
}

/** How many locally changed files would be overwritten. */
export function localChanges({ changes }: UpdatePlan): readonly FileChange[] {
  return changes.filter(({ isLocal }) => isLocal);
}

async function replace(agentDir: string, path: string, next: SkillFile | undefined): Promise<void> {
  const file = join(agentDir, path);
  if (next === undefined) {
    await rm(file, { force: true });
    // Only a folder that is now empty is removed.
    if (dirname(path) !== ".") await rmdir(dirname(file)).catch(() => undefined);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, next.content, next.isExecutable ? 0o755 : 0o644);
}

/** Saves the versions of files changed both here and at the source below `.al/merge/`; returns the commands to merge them. */
export async function prepareMerge(
  projectDir: string,
  plan: UpdatePlan,
  repository: FetchedRepository,
): Promise<string[]> {
  const { agent, file } = plan.from;
  const folder = join(ensureStateDir(projectDir), "merge", agent);
  const commands: string[] = [];
  for (const { path, kind } of localChanges(plan)) {
    const own = join(dirname(file.path), path);
    const [base, next] = [join(folder, `${path}.installed`), join(folder, `${path}.new`)];
    const entry = plan.base?.get(path);
    await mkdir(dirname(base), { recursive: true });
    if (entry !== undefined) await writeFile(base, (await repository.contents([entry]))[0] ?? "");
    const content = plan.skill.files.find((one) => one.path === path)?.content;
    if (content !== undefined) await writeFile(next, content);
    if (kind === "removed") commands.push(words("rm", own));
    else if (kind === "added") commands.push(words("cp", next, own));
    else if (entry === undefined) commands.push(words("diff", "-u", own, next));
    else commands.push(words("git", "merge-file", own, base, next));
  }
  return [...commands, `al update ${agent} --keep-local`];
}

/** Paths relative to the person's directory. */
function words(...parts: readonly string[]): string {
  return parts
    .map((part) => (part.startsWith("/") ? relative(process.cwd(), part) : part))
    .map(shellWord)
    .join(" ");
}
