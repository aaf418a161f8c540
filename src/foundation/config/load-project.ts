import { problemText } from "../../../streams/problem-text.ts";
import type { Problem } from "../../../streams/vocabulary.ts";
import type { FilterTable } from "../contracts/webhook-filters.ts";
import { UserError } from "../errors.ts";
import type { ProjectConfig } from "./project-config.ts";
import { readProject } from "./read-project.ts";
import { resolveProject } from "./resolve-project.ts";

/** A config that can't be used where there is none to fall back on. The message has one line a problem. */
export class ConfigError extends UserError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("invalid_config", problems.map(problemText).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export interface LoadedProject {
  readonly project: ProjectConfig;
  readonly warnings: readonly Problem[];
}

/**
 * The project at `dir` (absolute), for a start that needs one. Throws a ConfigError for a bad config and a UserError
 * for a missing one.
 */
export async function loadProject(dir: string, filters: FilterTable): Promise<LoadedProject> {
  const change = resolveProject(await readProject(dir), filters);
  if (change.type === "invalid") throw new ConfigError(change.problems);
  return { project: change.project, warnings: change.warnings };
}
