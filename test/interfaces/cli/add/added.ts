import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Folders } from "../fake-operator.ts";

/** Whether there is nothing of an agent in the project, and no draft of one. */
export function addedNothing({ projectDir }: Pick<Folders, "projectDir">): boolean {
  const state = join(projectDir, ".al");
  const drafts = existsSync(state)
    ? readdirSync(state).filter((name) => name.endsWith(".tmp"))
    : [];
  return drafts.length === 0 && !existsSync(join(projectDir, "agents"));
}
