import { parse } from "smol-toml";
import { UserError, messageOf } from "../../../foundation/errors.ts";
import { parseSkillSource } from "../../../features/skills/skill-source.ts";
import type { SkillSource } from "../../../features/skills/skill-source.ts";
import { openConfig } from "../config/config-file.ts";
import type { ConfigFile } from "../config/config-file.ts";
import { installedDir } from "./installed-files.ts";

/** The source that an agent's config names. */
export interface AgentSource {
  readonly agent: string;
  readonly file: ConfigFile;
  readonly source: SkillSource;
  /** As config.toml has it. */
  readonly text: string;
  /** In hex; null when that is not known. */
  readonly commit: string | null;
  /** Where the files of that commit may be saved. */
  readonly savedDir: string | null;
}

/** Null for an agent that was not added from anywhere. Throws a UserError when its config can't be read. */
export async function agentSource(projectDir: string, agent: string): Promise<AgentSource | null> {
  const file = await openConfig(projectDir, agent);
  const { source: text, sourceCommit } = tableOf(file, agent);
  if (typeof text !== "string") return null;
  const commit = typeof sourceCommit === "string" ? sourceCommit : null;
  const savedDir = commit === null ? null : installedDir(projectDir, agent, commit);
  return { agent, file, source: understood(agent, text, projectDir), text, commit, savedDir };
}

/** What is a usage error on the command line is a fault of the config here. */
function understood(agent: string, text: string, projectDir: string): SkillSource {
  try {
    return parseSkillSource(text, projectDir);
  } catch (error) {
    const message = `agents/${agent}/config.toml: source ${messageOf(error)}`;
    throw new UserError("invalid_config", message, { cause: error });
  }
}

function tableOf({ text }: ConfigFile, agent: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    throw new UserError("invalid_config", `agents/${agent}/config.toml is not valid TOML`, {
      hint: "al doctor shows the line",
      cause: error,
    });
  }
}
