import type { Problem } from "../../../streams/vocabulary.ts";
import { listAgents, readAgent, readBareSkill } from "./agent-files.ts";
import type { AgentFiles } from "./agent-files.ts";

/** The agents of a project as they are on disk. */
export interface AllAgents {
  /** By name, sorted. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  /** Directories that can't be agents because of their name. */
  readonly problems: readonly Problem[];
  /** Names of directories that are no agents only because they have no `config.toml`. */
  readonly bareSkills: readonly string[];
}

/** Reads the files of all agents. Never throws. */
export async function readAllAgents(projectDir: string): Promise<AllAgents> {
  const { names, problems } = await listAgents(projectDir);
  const files = await Promise.all(names.map((name) => readAgent(projectDir, name)));
  const there = files.filter((one) => one !== null);
  const others = names.filter((_, index) => files[index] === null);
  const bare = await Promise.all(others.map((name) => readBareSkill(projectDir, name)));
  return {
    agents: new Map(there.map((one) => [one.name, one])),
    problems,
    bareSkills: bare.flatMap((one) => (one === null ? [] : [one.name])),
  };
}
