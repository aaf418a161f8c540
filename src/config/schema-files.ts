import { join } from "node:path";
import { readText } from "./read-file.ts";
import type { FileText } from "./read-file.ts";
import { maxConfigBytes } from "./read-project.ts";

/** More than one is a mistake; this many are read. */
const maxSchemas = 4;

/** Names of JSON files in an agent's config: `[expect].schema`, before the config has been parsed. */
export function namedSchemas(config: string): readonly string[] {
  const names = config.matchAll(/["']([A-Za-z0-9_][\w.-]*\.json)["']/g);
  return [...new Set([...names].map(([, name = ""]) => name))].slice(0, maxSchemas);
}

/** Files of an agent's directory. Never throws. */
export async function readSchemas(
  projectDir: string,
  agent: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, FileText>> {
  const read = async (name: string) => {
    const path = join(projectDir, "agents", agent, name);
    return [name, await readText(path, projectDir, maxConfigBytes)] as const;
  };
  return new Map(await Promise.all(names.map(read)));
}
