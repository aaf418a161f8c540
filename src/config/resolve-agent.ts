import type { AgentConfig, ModelConfig } from "../../streams/agent-config.ts";
import type { AgentChange, Problem } from "../../streams/vocabulary.ts";
import { closest, slipsBetween } from "../contracts/closest.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import { didYouMean, meant } from "../contracts/did-you-mean.ts";
import type { FilterTable } from "../contracts/webhook-filters.ts";
import type { AgentFiles } from "./agent-files.ts";
import { agentSchema } from "./agent-schema.ts";
import type { AgentTable } from "./agent-schema.ts";
import { checkLocal, resolveLocal } from "./agent-local.ts";
import { hasErrors } from "./diagnostics.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { ProjectConfig } from "./project-config.ts";
import { resolveHarness } from "./resolve-project.ts";
import { formatNames, formatValue } from "./format-value.ts";
import { fiveFields, scheduleProblem } from "./schedule.ts";
import { parseSkill } from "./skill.ts";
import type { ParsedSkill, Skill } from "./skill.ts";
import { validateToml } from "./validate.ts";
import { webhookBindings } from "./webhook-bindings.ts";

/** What agents are resolved by beside the project's config. */
export interface KnownToAgents {
  readonly filters: FilterTable;
  /** Those that the program knows; others are allowed. */
  readonly credentialTypes: readonly string[];
  /** Whether runs have this variable of the credential that `reference` names. */
  readonly credentialSets: (reference: string, variable: string) => boolean;
  /** The program's, for `compatibility`. */
  readonly version: string;
}

/** The agent's config from its files, with the project's fallbacks. Pure; never throws. */
export function resolveAgent(
  files: AgentFiles,
  project: ProjectConfig,
  known: KnownToAgents,
): AgentChange {
  const { name, dockerfileHash } = files;
  const skill = resolveSkill(files, known);
  const config = resolveConfig(files, project, known);
  const problems = [...files.problems, ...config.problems, ...skill.problems];
  if (config.resolved === null || skill.skill === null || hasErrors(problems)) {
    return { type: "invalid", name, problems };
  }
  const title = skill.skill.title ?? name;
  const agent = { name, ...skill.skill, title, ...config.resolved, dockerfileHash };
  return { type: "set", agent, warnings: problems };
}

function resolveSkill({ name, skill }: AgentFiles, { version }: KnownToAgents): ParsedSkill {
  if (skill === null) return { skill: null, problems: [] };
  return parseSkill(`agents/${name}/SKILL.md`, skill, version);
}

type FromConfig = Omit<AgentConfig, keyof Skill | "name" | "dockerfileHash">;

interface ResolvedConfig {
  readonly resolved: FromConfig | null;
  readonly problems: readonly Problem[];
}

function resolveConfig(
  { name, config }: AgentFiles,
  project: ProjectConfig,
  known: KnownToAgents,
): ResolvedConfig {
  if (config === null) return { resolved: null, problems: [] };
  const { value: table, diagnostics } = validateToml(
    agentSchema,
    `agents/${name}/config.toml`,
    config,
  );
  const { problems } = diagnostics;
  if (table === null) return { resolved: null, problems };
  checkTriggers(table, diagnostics);
  checkCredentials(table, known.credentialTypes, diagnostics);
  checkLocal(table, known.credentialSets, diagnostics);
  const models = chosenModels(table.models, project, diagnostics);
  const webhooks = webhookBindings(table.webhooks, project, known.filters, diagnostics);
  return { resolved: { ...withFallbacks(table, project), models, webhooks }, problems };
}

function checkTriggers(table: AgentTable, diagnostics: Diagnostics): void {
  const { schedule, webhooks, callable, scale } = table;
  const problem = schedule === undefined ? null : scheduleProblem(schedule);
  if (problem !== null) diagnostics.error(["schedule"], problem);
  if (schedule !== undefined || webhooks.length > 0 || callable || scale === 0) return;
  diagnostics.error(
    [],
    `the agent has neither schedule nor webhooks, so nothing would start it; ${waysToStart}`,
  );
}

const waysToStart =
  'add schedule = "0 9 * * *" or [[webhooks]]; set callable = true if other agents call it or people start it; or disable it with scale = 0';

/** A type of one's own may be near a known one; one that is a single slip away from it is a slip. */
function checkCredentials(
  { credentials }: AgentTable,
  known: readonly string[],
  diagnostics: Diagnostics,
): void {
  for (const [index, name] of credentials.entries()) {
    const type = parseCredentialReference(name)?.type ?? "";
    const near = known.includes(type) ? null : closest(type, known);
    if (near === null || slipsBetween(type, near) > 1) continue;
    const message = `${formatValue(type)} is not a type of credential that al knows; ${meant(near)}`;
    diagnostics.warn(["credentials", index], message);
  }
}

function chosenModels(
  names: readonly string[],
  { models }: ProjectConfig,
  diagnostics: Diagnostics,
): ModelConfig[] {
  return names.flatMap((name, index) => {
    const model = Object.hasOwn(models, name) ? models[name] : undefined;
    if (model !== undefined) return [model];
    const known = Object.keys(models);
    const advice =
      known.length === 0
        ? `the project's config.toml has none; add [models.${name}] there`
        : `expected one of ${formatNames(known)}${didYouMean(name, known)}`;
    diagnostics.error(["models", index], `model ${formatValue(name)} is not defined; ${advice}`);
    return [];
  });
}

function withFallbacks(
  table: AgentTable,
  project: ProjectConfig,
): Omit<FromConfig, "models" | "webhooks"> {
  return {
    source: table.source ?? null,
    sourceCommit: table.sourceCommit ?? null,
    harness: resolveHarness(table.harness, project.harness),
    credentials: table.credentials,
    schedule: table.schedule === undefined ? null : fiveFields(table.schedule),
    timezone: table.timezone ?? project.timezone,
    catchUp: table.catchUp,
    callable: table.callable,
    scale: table.scale,
    timeoutSeconds: table.timeout ?? project.local.timeoutSeconds,
    queueSize: table.maxWorkQueueSize ?? project.workQueueSize,
    waitTimeoutSeconds: table.waitTimeout ?? project.defaultWaitTimeoutSeconds,
    hooks: table.hooks,
    params: table.params,
    runtime: { type: table.runtime.type, runAs: table.runtime.run_as },
    local: resolveLocal(table.local),
  };
}
