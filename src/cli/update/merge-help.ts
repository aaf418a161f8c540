import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { FetchedRepository } from "../../skills/fetch-repository.ts";
import { ensureStateDir } from "../../store/state-dir.ts";
import { shellWord } from "../../contracts/shell-word.ts";
import { localChanges } from "./apply-update.ts";
import type { UpdatePlan } from "./plan-update.ts";

/**
 * Puts the versions of files that were changed both here and at the source where they can be merged from, below
 * `.al/merge/`; the commands to do it with.
 */
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

/** Paths as from where the person is. */
function words(...parts: readonly string[]): string {
  return parts
    .map((part) => (part.startsWith("/") ? relative(process.cwd(), part) : part))
    .map(shellWord)
    .join(" ");
}
