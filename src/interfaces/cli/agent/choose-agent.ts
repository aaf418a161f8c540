import { stringify } from "smol-toml";
import { runtimeTypes, runtimes, type RuntimeType } from "../../../../streams/runtimes.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { scheduleProblem } from "../../../foundation/config/schedule.ts";
import { Problem } from "../../../foundation/errors.ts";
import { missingFlag, type Prompts } from "../terminal/prompts.ts";
import { schemaLine } from "../../../runtime/agents/editor-schemas.ts";

export interface AgentOptions {
  readonly description?: string;
  readonly model: readonly string[];
  readonly schedule?: string;
  readonly webhook: readonly string[];
  readonly callable?: true;
  readonly credential: readonly string[];
  readonly timeout?: number;
  readonly runtime?: RuntimeType;
  readonly runAs?: string;
}

/** The content of a new agent's `config.toml`. */
export interface NewConfig {
  readonly models: readonly string[];
  readonly schedule: string | null;
  readonly webhooks: readonly string[];
  readonly callable: boolean;
  readonly credentials: readonly string[];
  readonly timeout: number | null;
  readonly runtime: { readonly type: string; readonly run_as?: string };
}

/** By the flags, then by the person; off a terminal a Problem names the missing flag. */
export async function chooseConfig(
  options: AgentOptions,
  project: ProjectConfig,
  prompts: Prompts | null,
): Promise<NewConfig> {
  const models = await chooseModels(options, project, prompts);
  const triggers = await chooseTriggers(options, project, prompts);
  return {
    models,
    ...triggers,
    credentials: options.credential,
    timeout: options.timeout ?? null,
    runtime: await chooseRuntime(options, project, prompts),
  };
}

async function chooseModels(
  { model }: AgentOptions,
  project: ProjectConfig,
  prompts: Prompts | null,
): Promise<readonly string[]> {
  const known = Object.keys(project.models);
  const [first] = known;
  if (model.length > 0) return model;
  if (first === undefined) throw noModel();
  if (known.length === 1) return [first];
  if (prompts === null) throw missingFlag("--model", `one of ${known.join(", ")}`);
  const choices = known.map((value) => {
    const { provider, model: id } = project.models[value] ?? { provider: "", model: "" };
    return { value, name: provider === id ? `${value} (${id})` : `${value} (${provider} ${id})` };
  });
  return [await prompts.choose("Model", choices)];
}

type Triggers = Pick<NewConfig, "schedule" | "webhooks" | "callable">;

const noTrigger: Triggers = { schedule: null, webhooks: [], callable: false };
const atTimes = { value: "times", name: "at certain times" };
const whenCalled = { value: "calls", name: "other agents that call it, or people" };

async function chooseTriggers(
  options: AgentOptions,
  project: ProjectConfig,
  prompts: Prompts | null,
): Promise<Triggers> {
  const { schedule, webhook } = options;
  const callable = options.callable === true;
  if (schedule !== undefined || webhook.length > 0 || callable) {
    return { schedule: schedule ?? null, webhooks: webhook, callable };
  }
  if (prompts === null) {
    throw missingFlag("--schedule, --webhook or --callable", "something has to start it");
  }
  const sources = Object.keys(project.webhooks);
  // Prefixed: a source may have the name of another choice.
  const ofSources = sources.map((name) => ({ value: `/${name}`, name: `on webhooks of ${name}` }));
  const choice = await prompts.choose("What starts it", [atTimes, ...ofSources, whenCalled]);
  if (choice === whenCalled.value) return { ...noTrigger, callable: true };
  if (choice !== atTimes.value) return { ...noTrigger, webhooks: [choice.slice(1)] };
  const message = "When it runs, as a cron expression";
  const cron = await prompts.text({ message, default: "0 9 * * *", problem: scheduleProblem });
  return { ...noTrigger, schedule: cron };
}

/** Where a new agent runs when no flag and no answer names a runtime: this runtime needs no container engine. */
export const newAgentRuntime: RuntimeType = "host-user";

/** `[runtime]` of a new agent: as the person's own OS user where the runtime has users. */
export function runtimeTable(type: RuntimeType): NewConfig["runtime"] {
  return runtimes[type].runsAsUser ? { type, run_as: "$USER" } : { type };
}

async function chooseRuntime(
  { runtime, runAs }: AgentOptions,
  { cluster }: ProjectConfig,
  prompts: Prompts | null,
): Promise<NewConfig["runtime"]> {
  if (runAs !== undefined) return { type: runtime ?? newAgentRuntime, run_as: runAs };
  if (runtime !== undefined) return runtimeTable(runtime);
  if (prompts === null) return runtimeTable(newAgentRuntime);
  const others = runtimeTypes.filter(
    (type) => type !== newAgentRuntime && (cluster !== null || !runtimes[type].isRemote),
  );
  const choices = [newAgentRuntime, ...others].map((type) => ({
    value: type,
    name: runtimes[type].offer,
  }));
  return runtimeTable(await prompts.choose("Where it runs", choices));
}

/** The `config.toml` of a new agent. */
export function newConfigText({
  models,
  credentials,
  schedule,
  callable,
  timeout,
  ...agent
}: NewConfig): string {
  const head = stringify({
    models,
    credentials,
    ...(schedule === null ? {} : { schedule }),
    ...(callable ? { callable } : {}),
    ...(timeout === null ? {} : { timeout }),
  });
  const webhooks = agent.webhooks.map((source) => ({ source }));
  const triggers =
    webhooks.length === 0 ? "" : `\n${stringify({ webhooks }).trim()}\n${filterHint}`;
  const runtime = stringify({ runtime: agent.runtime }).trim();
  return `${schemaLine("agent", "../../")}\n\n${head.trim()}\n${triggers}\n${runtime}\n`;
}

const filterHint = `# Filters choose events, such as events = ["issues"]; without any, everything from the source starts it.\n`;

/** No agent can be written for a project without models. */
export function noModel(): Problem {
  return new Problem(
    "no_model",
    "the project has no model that the agent could use",
    "Add one, for example with `al config --set models.claude.provider=anthropic --set models.claude.model=claude-sonnet-4-5`.",
  );
}
