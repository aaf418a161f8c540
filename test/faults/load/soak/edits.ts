import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pause } from "../../../helpers/pause.ts";
import type { TestProject } from "../../../helpers/scheduler.ts";
import { configOf, edited } from "./soak-project.ts";

/** Each edit changes a schedule, by writing in place or by renaming; each tenth makes an agent come and go. */
export function editsOf({ dir }: TestProject) {
  let n = 0;
  const fileOf = (agent: string): string => join(dir, "agents", agent, "config.toml");

  const comeAndGo = async (): Promise<void> => {
    const agent = join(dir, "agents", "passing-by");
    await mkdir(agent);
    await writeFile(join(agent, "SKILL.md"), "Passing by.\n");
    await writeFile(fileOf("passing-by"), configOf("passing-by"));
    await pause(1_000, "the agent stays a moment");
    await rm(agent, { recursive: true });
  };

  return {
    count: (): number => n,
    /** Makes the next one; a directory that comes is gone again when it resolves. */
    next: async () => {
      n += 1;
      if (n % 10 === 0) return comeAndGo();
      const agent = edited[n % edited.length] ?? "";
      const text = configOf(agent, `${n % 60} ${n % 24} 1 1 *`);
      if (n % 2 === 0) return writeFile(fileOf(agent), text);
      await writeFile(`${fileOf(agent)}.new`, text);
      await rename(`${fileOf(agent)}.new`, fileOf(agent));
    },
  };
}

/** Edits of a project's files, one after the other. */
export type Edits = ReturnType<typeof editsOf>;
