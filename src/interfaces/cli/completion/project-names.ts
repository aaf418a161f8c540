import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentNamePattern } from "../../../foundation/contracts/agent-name.ts";

const agentName = new RegExp(`^${agentNamePattern}$`);

export function agentsIn(projectDir: string): string[] {
  const dir = join(projectDir, "agents");
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => agentName.test(name))
    .filter((name) => existsSync(join(dir, name, "config.toml")));
}

/** By the lines that begin its tables: to parse TOML would take longer than a person waits for a completion. */
const tableHead = /^\s*\[\s*([\w-]+)\s*\.\s*"?([\w-]+)"?\s*[\].]/gm;

/** The names of the tables below a key of the project's config, such as `models`. */
export function tablesIn(projectDir: string, key: string): string[] {
  const path = join(projectDir, "config.toml");
  if (!existsSync(path)) return [];
  const heads = [...readFileSync(path, "utf8").matchAll(tableHead)];
  return [...new Set(heads.filter((head) => head[1] === key).map(([, , name = ""]) => name))];
}
