import { problemText } from "../../../streams/problem-text.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { resolveAgent } from "../../foundation/config/resolve-agent.ts";
import { UserError } from "../../foundation/errors.ts";
import { knownToAgents } from "../operations/known-to-agents.ts";

interface AgentTexts {
  readonly name: string;
  readonly config: string;
  /** The text of SKILL.md. */
  readonly skill: string;
}

/** The same judgement as the scheduler's, before anything is written. Throws a UserError with every fault. */
export function refuseFaults(
  texts: AgentTexts,
  project: ProjectConfig,
  options: { readonly hint: string; readonly exitCode?: number },
): void {
  const files = { ...texts, dockerfileHash: null, schemas: new Map(), problems: [] };
  const change = resolveAgent(files, project, knownToAgents());
  if (change.type !== "invalid") return;
  throw new UserError("invalid_config", change.problems.map(problemText).join("\n"), options);
}
