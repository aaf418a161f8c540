import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * The project that a directory belongs to: itself, or the nearest one above it, as git does; itself when there is
 * none. Above, only what has a `config.toml` and `agents/` counts: many programs call their files so.
 */
export function findProject(from: string): string {
  const looksLikeOne = has(from, "config.toml") || has(from, "agents");
  if (looksLikeOne && !isInAgents(from)) return from;
  for (let dir = from; ; dir = dirname(dir)) {
    if (has(dir, "config.toml") && has(dir, "agents") && !isAgent(dir)) return dir;
    if (dir === dirname(dir)) return from;
  }
}

/** An agent has a `config.toml`, too. */
function isInAgents(dir: string): boolean {
  return basename(dirname(dir)) === "agents";
}

/** A project may stand in a directory that is called `agents`; it has no SKILL.md, which agents need. */
function isAgent(dir: string): boolean {
  return isInAgents(dir) && has(dir, "SKILL.md");
}

function has(dir: string, name: string): boolean {
  return existsSync(join(dir, name));
}
