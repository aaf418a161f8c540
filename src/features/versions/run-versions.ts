import { createHash, createHmac } from "node:crypto";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunContent, RunVersion } from "../../foundation/store/runs.ts";

export interface RunVersionSources {
  /** The canonical text of a config. */
  readonly describe: (config: AgentConfig, files: Readonly<Record<string, string>>) => string;
  /** Hashes of the skill's files, by path. */
  readonly files: (agent: string) => Promise<Readonly<Record<string, string>>>;
  /** The scripts that its scripted models play; empty for none. */
  readonly scripts: (config: AgentConfig) => Promise<string>;
  /** Called when an agent's version changed. */
  readonly onChange: () => void;
}

/** The version of an agent's config and instructions now. A config that did not change is hashed once. Never rejects. */
export function createRunVersions({
  describe,
  files,
  scripts,
  onChange,
}: RunVersionSources): (agent: AgentConfig) => Promise<RunVersion> {
  const known = new Map<string, RunVersion>();
  return async (agent) => {
    // The run itself is rejected for the files' error.
    const hashes = await files(agent.name).catch(() => unreadable);
    const config = describe(agent, hashes);
    const last = known.get(agent.name);
    const { instructions } = agent;
    const played = await scripts(agent);
    const content: RunContent =
      played === "" ? { config, instructions } : { config, instructions, scripts: played };
    if (last !== undefined && isSame(last.content, content)) return last;
    const version = versionOf(content);
    known.set(agent.name, version);
    if (last !== undefined) onChange();
    return version;
  };
}

const unreadable: Readonly<Record<string, string>> = { "(unreadable)": "" };

function isSame(a: RunContent, b: RunContent): boolean {
  const isSameText = a.config === b.config && a.instructions === b.instructions;
  return isSameText && a.scripts === b.scripts;
}

function versionOf(content: RunContent): RunVersion {
  const { config, instructions, scripts } = content;
  const text = JSON.stringify([config, instructions, ...(scripts === undefined ? [] : [scripts])]);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return { hash, content };
}

/** Puts a short hash in the place of a secret value: equal for equal values, of no use without the project's key. */
export function maskWith(key: string): (secret: string) => string {
  return (secret) => {
    const hash = createHmac("sha256", key).update(secret).digest("hex").slice(0, 12);
    return `(hidden, hash ${hash})`;
  };
}
