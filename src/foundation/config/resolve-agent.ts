import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentChange, Diagnostic } from "../../../streams/vocabulary.ts";
import { closest, editDistance, meant } from "../contracts/did-you-mean.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import type { AgentFiles } from "./agent-files.ts";
import { agentKeys, agentSchema, type AgentTable } from "./agent-keys.ts";
import { checkApprove } from "./approve.ts";
import { checkLocal } from "./agent-local.ts";
import { checkRuntime, runtimeTypeOf } from "./agent-runtime.ts";
import type { KnownToAgents } from "./config-key.ts";
import { checkExpect } from "./expect.ts";
import { checkGithubApp } from "./github-app.ts";
import { checkMcp } from "./mcp.ts";
import { checkMemory } from "./memory.ts";
import { validateToml, hasErrors, type Diagnostics } from "./validate.ts";
import { checkNetwork } from "./network.ts";
import type { ProjectConfig } from "./project-config.ts";
import { formatValue } from "./format-value.ts";
import { resolveKeys } from "./key-table.ts";
import { checkSchedules } from "./schedules.ts";
import { checkSession } from "./session.ts";
import { checkWorkspace } from "./workspace.ts";
import { parseSkill, type ParsedSkill, type Skill } from "./skill.ts";

/** The result of reading an agent's files: a config, or why they are invalid. */
type ResolvedAgent = Exclude<AgentChange, { readonly type: "removed" }>;

/** The agent's config from its files, with the project's fallbacks. Pure; never throws. */
export function resolveAgent(
  files: AgentFiles,
  project: ProjectConfig,
  known: KnownToAgents,
): ResolvedAgent {
  const { name, dockerfileHash } = files;
  const skill = resolveSkill(files, known);
  const config = resolveConfig(files, project, known);
  const problems = [...files.problems, ...config.problems, ...skill.problems];
  if (config.resolved === null || skill.skill === null || hasErrors(problems)) {
    return { type: "invalid", name, problems, sources: namedSources(files.config ?? "") };
  }
  const title = skill.skill.title ?? name;
  const agent = { name, ...skill.skill, title, ...config.resolved, dockerfileHash };
  return { type: "set", agent, warnings: problems };
}

/** Webhook sources in a config that may not even be TOML, including `source`, the agent's origin. */
function namedSources(config: string): readonly string[] {
  return [...config.matchAll(/\bsource["']?\s*=\s*["']([^"'\n]+)/g)].map(([, name = ""]) => name);
}

function resolveSkill({ name, skill }: AgentFiles, { version }: KnownToAgents): ParsedSkill {
  if (skill === null) return { skill: null, problems: [] };
  return parseSkill(`agents/${name}/SKILL.md`, skill, version);
}

type FromConfig = Omit<AgentConfig, keyof Skill | "name" | "dockerfileHash">;

interface ResolvedConfig {
  readonly resolved: FromConfig | null;
  readonly problems: readonly Diagnostic[];
}

function resolveConfig(
  files: AgentFiles,
  project: ProjectConfig,
  known: KnownToAgents,
): ResolvedConfig {
  const { name, config, schemas } = files;
  if (config === null) return { resolved: null, problems: [] };
  const { value: table, diagnostics } = validateToml(
    agentSchema,
    `agents/${name}/config.toml`,
    config,
  );
  const { problems } = diagnostics;
  if (table === null) return { resolved: null, problems };
  checkSchedules(table, project, diagnostics);
  checkTriggers(table, diagnostics);
  checkCredentials(table, known.credentialTypes, diagnostics);
  checkGithubApp(table, diagnostics);
  checkRuntime(table, project, diagnostics);
  const runtimeType = runtimeTypeOf(table.runtime, project);
  checkLocal({ ...table, runtimeType }, known.credentialSets, diagnostics);
  checkNetwork(table, project, diagnostics);
  checkApprove(table, project, diagnostics);
  checkMcp(table, diagnostics);
  checkWorkspace(table, diagnostics);
  checkSession(table, project, diagnostics);
  const inSchema = [
    ...checkExpect(table, files, diagnostics),
    ...checkMemory(table, files, project, diagnostics),
  ];
  const timezone = table.timezone ?? project.timezone;
  const context = { ...known, agent: name, project, timezone, schemas, diagnostics };
  const resolved = resolveKeys(agentKeys, table, context);
  return { resolved, problems: [...problems, ...inSchema] };
}

function checkTriggers(table: AgentTable, diagnostics: Diagnostics): void {
  const { schedule, schedules, webhooks, callable, scale } = table;
  if (schedule !== undefined || schedules.length > 0 || webhooks.length > 0) return;
  if (callable || scale === 0) return;
  const misspelt = diagnostics.problems.find(({ message }) => startKey.test(message));
  const fix = misspelt?.message ?? waysToStart;
  diagnostics.error(
    [],
    `the agent has neither schedule nor webhooks, so nothing would start it; ${fix}`,
  );
}

const startKey = /^unknown key .* did you mean "(schedules?|webhooks|callable)"\?$/;

const waysToStart =
  'add schedule = "0 9 * * *" or [[webhooks]]; set callable = true if other agents call it or people start it; or disable it with scale = 0';

/** A custom type may resemble a known one; only one at an edit distance of one is a typo. */
function checkCredentials(
  { credentials }: AgentTable,
  known: readonly string[],
  diagnostics: Diagnostics,
): void {
  for (const [index, name] of credentials.entries()) {
    const type = parseCredentialReference(name)?.type ?? "";
    const near = known.includes(type) ? null : closest(type, known);
    if (near === null || editDistance(type, near) > 1) continue;
    const message = `${formatValue(type)} is not a known credential type; ${meant(near)}`;
    diagnostics.warn(["credentials", index], message);
  }
}
