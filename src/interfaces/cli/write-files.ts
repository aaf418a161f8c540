import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failureOf, Problem } from "../../foundation/errors.ts";
import { draftName } from "../../foundation/files/replace-file.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { checkAgent } from "../../runtime/agents/project-files.ts";

/** A file that a command writes. */
export interface NewFile {
  readonly content: string | Uint8Array;
  readonly isExecutable?: boolean;
}

/** Files by their path in a directory. */
export type NewFiles = ReadonlyMap<string, NewFile>;

/**
 * Makes a directory in one step: a running scheduler sees all of it or nothing, and a failure leaves nothing behind. The
 * draft is made in `draftsDir`, which is on the same disk. Throws a Problem.
 */
export async function writeDirectory(
  dir: string,
  files: NewFiles,
  draftsDir: string,
): Promise<void> {
  const draft = join(draftsDir, draftName());
  try {
    for (const [path, file] of files) await writeNew(join(draft, path), file);
    await mkdir(dirname(dir), { recursive: true });
    await rename(draft, dir);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw unwritable(dir, error, "make sure that you can write to the project's directory");
  }
}

/** Writes a file and its parent directories; never overwrites a file or follows a link in its place. */
export async function writeNew(path: string, { content, isExecutable }: NewFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
}

export function unwritable(path: string, cause: unknown, hint?: string): Problem {
  return failureOf("unwritable", `${path} can't be written`, cause, hint);
}

interface AgentTexts {
  readonly name: string;
  readonly config: string;
  /** The text of SKILL.md. */
  readonly skill: string;
}

/** The scheduler's own validation, before anything is written. Throws a Problem with every error. */
export function refuseFaults(
  texts: AgentTexts,
  project: ProjectConfig,
  options: { readonly hint: string; readonly exitCode?: number },
): void {
  const files = { ...texts, dockerfileHash: null, schemas: new Map(), problems: [] };
  const { config, problems } = checkAgent(files, project);
  if (config !== null) return;
  throw new Problem("invalid_config", problems.map(problemText).join("\n"), options);
}
