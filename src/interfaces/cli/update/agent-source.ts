import { parse } from "smol-toml";
import { Problem, messageOf } from "../../../foundation/errors.ts";
import { parseSkillSource, type SkillSource } from "../../../features/skills/skill-source.ts";
import { openConfig, type ConfigFile } from "../config/config-file.ts";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import type { SkillFile } from "../add/read-skill.ts";
import { writeDirectory } from "../write-files.ts";

/** The source that an agent's config names. */
export type AgentSource = NonNullable<Awaited<ReturnType<typeof agentSource>>>;

/**
 * The source as config.toml names it; its files of `commit` (hex, null if unknown) may be saved in `savedDir`. Null for
 * an agent without a source. Throws a Problem if its config can't be read.
 */
export async function agentSource(projectDir: string, agent: string) {
  const file = await openConfig(projectDir, agent);
  const { source: text, sourceCommit } = tableOf(file, agent);
  if (typeof text !== "string") return null;
  const commit = typeof sourceCommit === "string" ? sourceCommit : null;
  const savedDir = commit === null ? null : installedDir(projectDir, agent, commit);
  return { agent, file, source: understood(agent, text, projectDir), text, commit, savedDir };
}

/** A usage error of the command line is an error of the config here. */
function understood(agent: string, text: string, projectDir: string): SkillSource {
  try {
    return parseSkillSource(text, projectDir);
  } catch (error) {
    throw new Problem("invalid_config", `agents/${agent}/config.toml: source ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function tableOf({ text }: ConfigFile, agent: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    throw new Problem("invalid_config", `agents/${agent}/config.toml is not valid TOML`, {
      hint: "Run `al doctor` to see the line.",
      cause: error,
    });
  }
}

/** Folder of an agent's skill as installed: a plain directory, as a source, has no earlier commits. */
function installedDir(projectDir: string, agent: string, commit: string): string {
  return join(projectDir, ".al/installed", agent, commit);
}

/** Keeps the installed files for the next update, in place of the earlier ones. */
export async function saveInstalled(
  projectDir: string,
  agent: string,
  { commit, files }: { readonly commit: string; readonly files: readonly SkillFile[] },
): Promise<void> {
  const draftsDir = ensureStateDir(projectDir);
  const dir = installedDir(projectDir, agent, commit);
  await rm(join(dir, ".."), { recursive: true, force: true });
  await writeDirectory(dir, new Map(files.map((file) => [file.path, file])), draftsDir);
}
