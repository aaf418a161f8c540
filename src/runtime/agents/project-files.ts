import { problemText } from "../../../streams/problem-text.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { readAllAgents, type AgentFiles } from "../../foundation/config/agent-files.ts";
import type { KnownToAgents } from "../../foundation/config/config-key.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { resolveAgent } from "../../foundation/config/resolve-agent.ts";
import { loadProject as load } from "../../foundation/config/resolve-project.ts";
import { credentialTypes } from "../../foundation/credentials/credential-types.ts";
import { setsVariable } from "../../foundation/credentials/stage-credentials.ts";
import { Problem } from "../../foundation/errors.ts";
import { packageVersion } from "../../foundation/version.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";

let known: KnownToAgents | null = null;

/** The filters, credential types and version of this program, by which an agent's files are validated. */
export function knownToAgents(): KnownToAgents {
  return (known ??= {
    filters: filterTable,
    credentialTypes: Object.keys(credentialTypes),
    credentialSets: setsVariable,
    version: packageVersion(),
  });
}

/** The project's config. Throws a Problem if it can't be used. */
export async function loadProject(projectDir: string): Promise<ProjectConfig> {
  return (await load(projectDir, filterTable)).project;
}

/** An agent's config from its files, and their problems; the config is null if one of them is an error. */
interface CheckedAgent {
  readonly name: string;
  readonly config: AgentConfig | null;
  readonly problems: readonly Diagnostic[];
}

/** The scheduler's own validation. */
export function checkAgent(files: AgentFiles, project: ProjectConfig): CheckedAgent {
  const { name } = files;
  const change = resolveAgent(files, project, knownToAgents());
  return change.type === "set"
    ? { name, config: change.agent, problems: change.warnings }
    : { name, config: null, problems: change.problems };
}

/**
 * All agents with their current files; without a project only their names are known. `problems` are those of directories
 * that can't be agents.
 */
export async function checkAgents(projectDir: string, project: ProjectConfig | null) {
  const { agents, problems, bareSkills } = await readAllAgents(projectDir);
  const checked = Array.from(agents.values(), (files): CheckedAgent => {
    if (project === null) return { name: files.name, config: null, problems: [] };
    return checkAgent(files, project);
  });
  const configs = checked.flatMap(({ config }) => (config === null ? [] : [config]));
  return { checked, configs, problems, bareSkills };
}

/** A text, and the problems of another one in its place. */
interface JudgedFile {
  readonly text: string;
  readonly judge: (text: string) => { readonly problems: readonly Diagnostic[] };
}

/** The problems that a text adds: a file that is broken already may be fixed one thing at a time. */
export function newProblems(file: JudgedFile, text: string): Diagnostic[] {
  const before = new Set(file.judge(file.text).problems.map(({ message }) => message));
  return file.judge(text).problems.filter(({ message }) => !before.has(message));
}

/** An unknown key is refused too: the user meant another one. */
function isRefused({ severity, message }: Diagnostic): boolean {
  return severity === "error" || message.startsWith("unknown key");
}

/** Throws a Problem when one of the problems forbids to write. */
export function refuseProblems(
  problems: readonly Diagnostic[],
  redact = (text: string): string => text,
): void {
  const refused = problems.filter(isRefused);
  if (refused.length === 0) return;
  const texts = refused.map((problem) => problemText(problem).replace(/ is ignored(?=; )/, ""));
  throw new Problem("invalid_config", redact(texts.join("\n")), "nothing was written");
}
