import type { AgentConfig, ModelConfig, WebhookBinding } from "../../../../streams/agent-config.ts";
import { counted, durationText } from "../../../contracts/format.ts";
import { create } from "./dom.ts";

type Fact = readonly [name: string, ...values: readonly string[]];

/** An agent's config in force as a list of what is set, by what a reader would call it. */
export function factList(config: AgentConfig, scheduleText: string | null): readonly HTMLElement[] {
  return factsOf(config, scheduleText)
    .filter(([, ...values]) => values.length > 0)
    .flatMap(([name, ...values]) => [
      create("dt", "", name),
      ...values.map((value) => create("dd", "", value)),
    ]);
}

function factsOf(config: AgentConfig, scheduleText: string | null): readonly Fact[] {
  const { harness, runtime, hooks, source, sourceCommit } = config;
  const { schedule, timezone, catchUp } = config;
  return [
    ["Models", ...config.models.map(modelText)],
    ["Harness", harness.type === "pi" ? "pi" : `llm-cli (${harness.command})`],
    ...(schedule === null
      ? []
      : [["Schedule", schedule, ...words(scheduleText), `time zone ${timezone}`] as const]),
    ...(catchUp === "latest" ? [["Missed ticks", "the latest one is made up for"] as const] : []),
    ["Webhooks", ...config.webhooks.map(webhookText)],
    ...(config.callable ? [["Started by", "calls of other agents, and people"] as const] : []),
    ["Runs at once", config.scale === 0 ? "0, which disables it" : String(config.scale)],
    ["Queue", `holds ${counted(config.queueSize, "work item")}`],
    ["Timeout", durationText(config.timeoutSeconds * 1000)],
    ["Waits for a trigger", `up to ${durationText(config.waitTimeoutSeconds * 1000)}`],
    ["Runs in", runtimeText(runtime)],
    ...localFacts(config.local),
    ["Credentials", ...config.credentials],
    ["Before the session", ...hooks.pre],
    ["After the session", ...hooks.post],
    ...paramFacts(config.params),
    ["Installed from", ...words(source), ...words(sourceCommit)],
    ["License", ...words(config.license)],
    ["Compatible with", ...words(config.compatibility)],
  ];
}

/** What it sets itself; without it the project's counts. */
function localFacts({ memory, cpus, network, env }: AgentConfig["local"]): readonly Fact[] {
  return [
    ["Memory", ...words(memory)],
    ["Processors", ...words(cpus === null ? null : String(cpus))],
    ["Network", ...words(network)],
    ["Variables", ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
  ];
}

function runtimeText(runtime: AgentConfig["runtime"]): string {
  if (runtime.type === "container") return "a container";
  return runtime.runAs === "$USER"
    ? "a process of the scheduler's own OS user"
    : `a process of the OS user ${runtime.runAs}`;
}

function words(text: string | null): readonly string[] {
  return text === null ? [] : [text];
}

function modelText(config: ModelConfig, index: number): string {
  const { name, provider, model, thinkingLevel } = config;
  const facts = [
    provider === "scripted" ? "scripted" : `${provider} ${model}`,
    ...(thinkingLevel === null || thinkingLevel === "off" ? [] : [`thinking ${thinkingLevel}`]),
    ...modelLimits(config),
    ...(index === 0 ? [] : ["fallback"]),
  ];
  return facts.length === 1 && facts[0] === name ? name : `${name} (${facts.join(", ")})`;
}

/** The settings that the model's table sets. */
function modelLimits(config: ModelConfig): readonly string[] {
  const { api, contextWindow, maxTokens, headers, timeoutSeconds, maxRetries } = config;
  const settings: readonly (readonly [string, string | null])[] = [
    ["api", api],
    ["window", contextWindow === null ? null : counted(contextWindow, "token")],
    ["answers up to", maxTokens === null ? null : counted(maxTokens, "token")],
    ["timeout", timeoutSeconds === null ? null : durationText(timeoutSeconds * 1000)],
    ["retries", maxRetries === null ? null : String(maxRetries)],
    ["headers", Object.keys(headers).join(", ") || null],
  ];
  return settings.flatMap(([label, text]) => (text === null ? [] : [`${label} ${text}`]));
}

/** `github: repos acme/website; actions opened, labeled; where issue.number is 7`. */
function webhookText({ source, filters, where = {} }: WebhookBinding): string {
  const texts = [
    ...Object.entries(filters).map(
      ([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : String(value)}`,
    ),
    ...Object.entries(where).map(([path, value]) => `where ${path} is ${JSON.stringify(value)}`),
  ];
  return `${source}: ${texts.length === 0 ? "everything" : texts.join("; ")}`;
}

function paramFacts(params: AgentConfig["params"]): readonly Fact[] {
  return Object.entries(params).map(([name, value]) => [
    `Param ${name}`,
    typeof value === "string" ? value : value.join(", "),
  ]);
}
