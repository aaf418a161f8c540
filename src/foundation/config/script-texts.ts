import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import type { AgentConfig } from "../../../streams/agent-config.ts";

/**
 * The scripts that an agent's scripted models play, as one text with the path of each before it; empty without one. A
 * run whose script can't be read fails with what is wrong.
 */
export async function scriptTexts(
  { models }: Pick<AgentConfig, "models">,
  projectDir: string,
): Promise<string> {
  const paths = new Set(models.flatMap(({ script }) => (script === null ? [] : [script])));
  const texts = [...paths].sort().map(async (path) => {
    const text = await readFile(path, "utf8").catch(() => "# (unreadable)\n");
    return `# ${relative(projectDir, path)}\n${text}`;
  });
  return (await Promise.all(texts)).join("");
}
