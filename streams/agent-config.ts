/** An agent's config: its own files, resolved against the project's. Plain data. */

import type { AlertOptions } from "./alert-options.ts";
import type { HarnessType } from "./harnesses.ts";
import { runtimes, type RuntimeType } from "./runtimes.ts";

/** A model of the project's `[models.<name>]`, resolved for one agent. */
export interface ModelConfig {
  readonly name: string;
  readonly provider: Provider;
  readonly model: string;
  readonly authType: "api_key" | "oauth_token" | "none";
  readonly thinkingLevel: ThinkingLevel | null;
  readonly baseUrl: string | null;
  /** The wire format of its API; null for the one of its provider. */
  readonly api: ModelApi | null;
  /** Tokens of a request and its answer together; null for the model's own. */
  readonly contextWindow: number | null;
  /** Tokens of an answer; null for the model's own limit. */
  readonly maxTokens: number | null;
  /** The input that it reads; null for the model's known one. */
  readonly input: readonly ModelInput[] | null;
  /** Sent with each request, beside the API's own. The values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one request may send nothing, in seconds; null for the harness's own limit. */
  readonly timeoutSeconds: number | null;
  /** How often one request is retried; null for the harness's own number. */
  readonly maxRetries: number | null;
  /** USD per million tokens; null for the price of the built-in table. */
  readonly price: Rates | null;
  /** Calls by all runs together; null for no limit. */
  readonly requestsPerMinute: number | null;
  /** Tools that the provider may run on its own machines, by their names in the provider's API. */
  readonly providerTools: readonly string[];
  /** Fields of its requests that its API does not document, as paths. */
  readonly extraFields: readonly string[];
  /** Credential reference, `type` or `type:instance`. */
  readonly credential: string;
  /** Absolute path of the script that the `scripted` provider replays. */
  readonly script: string | null;
}

export const providers = [
  "anthropic",
  "openai",
  "google",
  "groq",
  "xai",
  "mistral",
  "openrouter",
  "custom",
  "scripted",
] as const;
export type Provider = (typeof providers)[number];

export const modelInputs = ["text", "image"] as const;
export type ModelInput = (typeof modelInputs)[number];

/** Wire formats, by their names in the pi harness. */
export const modelApis = [
  "anthropic-messages",
  "openai-responses",
  "openai-completions",
  "google-generative-ai",
  "mistral-conversations",
] as const;
export type ModelApi = (typeof modelApis)[number];

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

/** USD per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Price of a cache entry for five minutes; one for an hour costs twice `input`. */
  readonly cacheWrite: number;
}

/** Once an agent's budget is used up, its work and its runs are rejected, or wait for money. */
export const onLimits = ["stop", "pause"] as const;
export type OnLimit = (typeof onLimits)[number];

/** Limits of spending of an agent, or of all agents of the project together. Null sets no limit. */
export interface Budget {
  /** Limit of one run. */
  readonly runUsd: number | null;
  /** Limit of a calendar day in the project's time zone. */
  readonly dayUsd: number | null;
  /** Limit of a calendar month in the project's time zone. */
  readonly monthUsd: number | null;
  /** How many answers of models one run may have. */
  readonly turns: number | null;
  /** Percentages of a limit that cause a warning, once per window. */
  readonly warnAt: readonly number[];
  /** How work is handled while no call to a model can be paid. */
  readonly onLimit: OnLimit;
}

export interface HarnessConfig {
  readonly type: HarnessType;
  /** The external command line, for a harness that starts one. */
  readonly command: string;
  /** Its arguments; absent without any. */
  readonly args?: readonly string[] | undefined;
}

/** One `[[webhooks]]` entry: a source, and the conditions for its events. */
export interface WebhookBinding {
  readonly source: string;
  /** Provider type of that source, from the project's `[webhooks.<source>]`. */
  readonly type: string;
  /** By the filter names of the provider's table. */
  readonly filters: Readonly<Record<string, string | boolean | readonly string[]>>;
  /** Values that the payload must have, by dotted paths; absent for none. */
  readonly where?: Readonly<Record<string, string | number | boolean>>;
}

export interface RuntimeConfig {
  readonly type: RuntimeType;
  /** OS user name; `$USER` is the user that runs the scheduler. */
  readonly runAs: string;
  /** Where in the cluster the agent's runs may be placed; by default as in the project's `[cluster]`. */
  readonly place?: readonly string[];
}

/** `[network]` of an agent or of its project. */
export interface NetworkConfig {
  /** Presets and hosts that runs may reach. */
  readonly allow: readonly string[];
}

/** An agent's own `[local]`; null uses the project's value. */
export interface AgentLocalConfig {
  /** Memory of its containers: a number with b, k, m or g. */
  readonly memory: string | null;
  readonly cpus: number | null;
  readonly network: string | null;
  /** Variables of its runs by name, in every runtime. */
  readonly env: Readonly<Record<string, string>>;
}

/** Results that a succeeded run must have left; otherwise it has failed. */
export interface Expectation {
  /** The run returned a value. */
  readonly returned: boolean;
  /** The run's model ended with text. */
  readonly said: boolean;
  /** JSON Schema of the returned value; null for any value. */
  readonly schema: ExpectedSchema | null;
}

export interface ExpectedSchema {
  /** Path relative to the agent's directory. */
  readonly file: string;
  /** The schema's content, JSON text. */
  readonly text: string;
}

/** One `[[mcp]]` entry: an MCP server whose tools an agent has. */
export interface McpServer {
  readonly name: string;
  /** The server's address, which the scheduler calls; null for a command. */
  readonly url: string | null;
  /** Program and arguments, started inside the run; null for an address. */
  readonly command: readonly string[] | null;
  /** The tools that the agent has: names, in which `*` stands for any characters. */
  readonly tools: readonly string[];
  /** Credential reference, sent to the address; null for none. */
  readonly credential: string | null;
  /** Whether the address may be in a private network. */
  readonly private: boolean;
  /** How long one call may take. */
  readonly timeoutSeconds: number;
}

/** An agent's `[approve]`: hosts, spending, tools and calls that a person has to allow. */
export interface Approval {
  /** Entries as in `[network].allow`, without presets. */
  readonly hosts: readonly string[];
  /** Spending of one run in USD above which its next call to a model is held; null for none. */
  readonly over: number | null;
  /** Agents that its runs call; `*` for every agent. */
  readonly agents: readonly string[];
  /** Tools of MCP servers, `server.tool`, in which `*` stands for any characters. */
  readonly tools: readonly string[];
}

/** Whether the files of a run are kept to which a stranger's delivery led: never, once a person allows them, or always. */
export const untrustedModes = ["read", "propose", "write"] as const;
export type UntrustedMode = (typeof untrustedModes)[number];

/** Limits of a memory, in bytes. */
export interface MemoryLimits {
  readonly maxBytes: number;
  readonly maxFileBytes: number;
}

/** A `[memories.<name>]` of the project, as one agent has it. */
export interface SharedMemory extends MemoryLimits {
  readonly name: string;
  readonly isWriter: boolean;
}

/** An agent's `[memory]`. */
export interface MemoryConfig extends MemoryLimits {
  /** JSON Schemas by the paths of the files that must match them. */
  readonly schema: Readonly<Record<string, ExpectedSchema>>;
  readonly shared: readonly SharedMemory[];
  readonly untrusted: UntrustedMode;
  /** Authors and senders of deliveries. */
  readonly trusted: readonly string[];
}

export const deliveredParts = ["latest", "all"] as const;

/** An agent's `[debounce]`: deliveries that come shortly after one another start one run. */
export interface Debounce {
  /** Template over the attributes of a delivery; null to gather all of them together. */
  readonly key: string | null;
  /** How long no further delivery of the key comes before the run starts, in ms. */
  readonly quietMs: number;
  /** How long after the first delivery the run starts at the latest, in ms. */
  readonly mostMs: number;
  /** Whether the run gets the latest payload, or all in order. */
  readonly deliver: (typeof deliveredParts)[number];
}

/** Levels of a permission of a GitHub App, each with those before it. */
export const githubLevels = ["read", "write", "admin"] as const;
export type GithubLevel = (typeof githubLevels)[number];

/** An agent's `[githubApp]`: the scope of the tokens that its runs get from its `github_app`. */
export interface GithubAppScope {
  /** By GitHub's names, such as `pull_requests`. */
  readonly permissions: Readonly<Record<string, GithubLevel>>;
  /** As `owner/name`, all of one owner; empty for the repository of the run's trigger. */
  readonly repos: readonly string[];
}

/** An agent's `[workspace]`: a checkout of a repository in each run. */
export interface Workspace {
  /** URL of the repository; a template over the attributes of a trigger if it has a brace. */
  readonly git: string;
  /** Repositories that a template may become: paths of the host, in which `*` stands for one name. */
  readonly repos: readonly string[];
  /** Credential reference, used by the scheduler only; null for the agent's credential for the host. */
  readonly credential: string | null;
  /** Branch, tag, full ref or commit; a template if it has a brace. Null for the default branch. */
  readonly ref: string | null;
  /** Commits of its history; 0 for all. */
  readonly depth: number;
  /** Folders below the home directory of a run, as `~/…`, whose files the next run gets. */
  readonly cache: readonly string[];
  /** Refs that runs may push: branches, full refs, and with a leading `:` also their deletion; `*` stands for any characters. */
  readonly push: readonly string[];
  /** Maximum size of the repository's mirror, and of each cache, in bytes. */
  readonly maxBytes: number;
}

/** A value of `[params]`. */
export type Param = string | number | boolean;
export type Params = Readonly<Record<string, Param | readonly Param[]>>;

/** When an agent is due: a five-field cron expression in an IANA time zone. */
export interface Schedule {
  readonly expression: string;
  readonly timezone: string;
}

/** One `[[schedules]]` entry. */
export interface ScheduleEntry extends Schedule {
  /** Unique within the agent; empty for the short `schedule`. */
  readonly name: string;
  /** Added to the prompt of its runs; null for none. */
  readonly prompt: string | null;
  /** Override the agent's own for its runs. */
  readonly params: Params;
  /** Names of calendars; null for none. */
  readonly calendar: CalendarNames | null;
}

/** A tick within a calendar of `skip` starts no run, nor does one outside of all calendars of `only`, if it has any. */
export interface CalendarNames {
  readonly skip: readonly string[];
  readonly only: readonly string[];
}

/** The latest missed ticks are listed up to this: each costs a third of a millisecond, and all agents wake at once. */
export const maxSlots = 100;

/** A newer trigger waits behind the others of its key, replaces the waiting one, or also ends the running one. */
export const onNews = ["wait", "replace", "cancel"] as const;
export type OnNew = (typeof onNews)[number];

/** An agent's `[concurrency]`. */
export interface Concurrency {
  /** Template over the attributes of a trigger. */
  readonly key: string;
  /** Concurrent runs of one key. */
  readonly limit: number;
  readonly onNew: OnNew;
}

/** A delivery whose session key has a live run waits behind it, or is sent into it. */
export const whileRunnings = ["wait", "steer"] as const;

/** An agent's `[session]`: runs with the same key continue one session. */
export interface SessionConfig {
  /** Template over the attributes of a trigger. */
  readonly key: string;
  /** How long a session is kept after its last run, in ms. */
  readonly keepMs: number;
  /** Tokens above which a session is compacted; null for the limit of the harness. */
  readonly maxTokens: number | null;
  readonly whileRunning: (typeof whileRunnings)[number];
}

/** A tick that finds all runners of its agent busy is skipped, or waits for one. */
export const overlaps = ["skip", "wait"] as const;

/** An agent's active config: its files, resolved against the project's. Plain data, safe to compare as JSON. */
export interface AgentConfig {
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly license: string | null;
  readonly compatibility: string | null;
  /** The markdown body of SKILL.md: the agent's system prompt. */
  readonly instructions: string;
  readonly source: string | null;
  readonly sourceCommit: string | null;
  /** First is primary, the rest are fallbacks. */
  readonly models: readonly ModelConfig[];
  readonly harness: HarnessConfig;
  readonly credentials: readonly string[];
  /** Null without the table. */
  readonly githubApp: GithubAppScope | null;
  /** Five-field cron expression. */
  readonly schedule: string | null;
  /** Beside `schedule`. */
  readonly schedules: readonly ScheduleEntry[];
  /** IANA name. */
  readonly timezone: string;
  readonly catchUp: "none" | "latest" | "all";
  /** The most missed ticks that `all` starts. */
  readonly catchUpMost: number;
  readonly overlap: (typeof overlaps)[number];
  /** True for an agent that needs neither schedule nor webhooks: agents call it, or people start it. */
  readonly callable: boolean;
  /** Words that people group agents by; no run depends on them. */
  readonly tags: readonly string[];
  /** Concurrent runs; 0 disables the agent. */
  readonly scale: number;
  /** Null without keys. */
  readonly concurrency: Concurrency | null;
  /** Null if each run has a session of its own. */
  readonly session: SessionConfig | null;
  readonly timeoutSeconds: number;
  /** `runUsd`, `turns`, `warnAt` and `onLimit` default to the project's. */
  readonly budget: Budget;
  readonly queueSize: number;
  readonly waitTimeoutSeconds: number;
  readonly webhooks: readonly WebhookBinding[];
  /** Null if each delivery starts its own run. */
  readonly debounce: Debounce | null;
  readonly hooks: { readonly pre: readonly string[]; readonly post: readonly string[] };
  readonly params: Params;
  readonly runtime: RuntimeConfig;
  readonly local: AgentLocalConfig;
  /** The agent's own table; null without one. */
  readonly network: NetworkConfig | null;
  /** Null without gates. */
  readonly approve: Approval | null;
  readonly mcp: readonly McpServer[];
  /** Each key defaults to the project's. */
  readonly alert: AlertOptions;
  /** Results that its runs must leave; null for any. */
  readonly expect: Expectation | null;
  /** Files that are kept between runs; null without the table. */
  readonly memory: MemoryConfig | null;
  /** Maximum size of the artifacts of one run. */
  readonly artifactsBytes: number;
  /** Null without a checkout. */
  readonly workspace: Workspace | null;
  /** URL that its runs ping, null for none. It may hold a secret. */
  readonly heartbeat: string | null;
  /** Changes with the agent's Dockerfile and with the files that it may copy; null without one. */
  readonly dockerfileHash: string | null;
}

/** Whether its runs need an image: an agent disabled by its scale needs none. */
export function needsImage({ runtime, scale }: AgentConfig): boolean {
  return runtimes[runtime.type].needsImage && scale > 0;
}

/** All schedules of an agent: the short one, then its entries. */
export function schedulesOf({
  schedule: expression,
  schedules,
  timezone,
}: Pick<AgentConfig, "schedule" | "schedules" | "timezone">): readonly ScheduleEntry[] {
  if (expression === null) return schedules;
  const short = { name: "", expression, timezone, prompt: null, params: {}, calendar: null };
  return [short, ...schedules];
}
