/**
 * Every value that flows through the program. One word for one thing:
 * agent, trigger, work item, run, instance, event, receipt, outcome.
 * A time that is a number is epoch milliseconds; one that is a string, as on the wire, is ISO 8601 UTC.
 */

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
  /** Sent with each request, beside those that the API needs. The values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one request may send nothing, in seconds; null for the harness's own limit. */
  readonly timeoutSeconds: number | null;
  /** How often one request is retried; null for the harness's own number. */
  readonly maxRetries: number | null;
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

/** Wire formats, by the names that the pi harness has for them. */
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

export interface HarnessConfig {
  readonly type: "pi" | "llm-cli";
  /** The external command line that `llm-cli` runs. */
  readonly command: string;
}

/** One `[[webhooks]]` entry: a source, and what an event of it must meet. */
export interface WebhookBinding {
  readonly source: string;
  /** Provider type of that source, from the project's `[webhooks.<source>]`. */
  readonly type: string;
  /** By the names of the provider's table. */
  readonly filters: Readonly<Record<string, string | boolean | readonly string[]>>;
  /** Values that the payload must have, by dotted paths; absent for none. */
  readonly where?: Readonly<Record<string, string | number | boolean>>;
}

export interface RuntimeConfig {
  readonly type: "container" | "host-user";
  /** OS user name; `$USER` is the user that runs the scheduler. */
  readonly runAs: string;
}

/** An agent's own `[local]`; null where the project's counts. */
export interface AgentLocalConfig {
  /** Of its containers: a number with b, k, m or g. */
  readonly memory: string | null;
  readonly cpus: number | null;
  readonly network: string | null;
  /** Variables of its runs by name, in every runtime. */
  readonly env: Readonly<Record<string, string>>;
}

/** An agent as it is in force: its files, resolved against the project's. Plain data, safe to compare as JSON. */
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
  /** Five-field cron expression. */
  readonly schedule: string | null;
  /** IANA name. */
  readonly timezone: string;
  readonly catchUp: "none" | "latest";
  /** True for one that may do without schedule and webhooks: agents call it, or people start it. */
  readonly callable: boolean;
  /** Concurrent runs; 0 disables the agent. */
  readonly scale: number;
  readonly timeoutSeconds: number;
  readonly queueSize: number;
  readonly waitTimeoutSeconds: number;
  readonly webhooks: readonly WebhookBinding[];
  readonly hooks: { readonly pre: readonly string[]; readonly post: readonly string[] };
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly runtime: RuntimeConfig;
  readonly local: AgentLocalConfig;
  /** Changes with the agent's Dockerfile and with the files that it may copy; null without one. */
  readonly dockerfileHash: string | null;
}

/** Whether its runs need an image: one that was switched off by its scale needs none. */
export function needsImage({ runtime, scale }: AgentConfig): boolean {
  return runtime.type === "container" && scale > 0;
}

/** Something wrong in a file, addressed so that an editor can jump to it. Lines and columns count from 1. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** Path relative to the project. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** What was found, what is expected and what to do, in one sentence. */
  readonly message: string;
}

/** What became of an agent's directory. A bad config is a value, not an error. */
export type AgentChange =
  | { readonly type: "set"; readonly agent: AgentConfig; readonly warnings: readonly Problem[] }
  | { readonly type: "invalid"; readonly name: string; readonly problems: readonly Problem[] }
  | { readonly type: "removed"; readonly name: string };

/** Normalized fields of a webhook event; null where the provider's event carries none. */
export interface WebhookEvent {
  readonly source: string;
  readonly type: string;
  readonly event: string;
  readonly action: string | null;
  readonly repo: string | null;
  readonly number: number | null;
  readonly title: string | null;
  readonly body: string | null;
  readonly url: string | null;
  readonly author: string | null;
  readonly labels: readonly string[];
  readonly sender: string | null;
  readonly branch: string | null;
  readonly conclusion: string | null;
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  readonly receiptId: string;
}

/** What asks an agent to run. */
export type Trigger =
  | {
      readonly kind: "cron";
      /** Epoch ms. */
      readonly scheduledFor: number;
      /** How many runs in a row asked to be run again since the tick; absent for the tick itself. */
      readonly rerun?: number;
    }
  | { readonly kind: "webhook"; readonly event: WebhookEvent }
  | {
      readonly kind: "agent-call";
      readonly callId: string;
      readonly caller: string;
      readonly callerInstance: string;
      /** Calls from the first run of the tree to this one. */
      readonly depth: number;
      /** The work item of the first run of the tree. */
      readonly root: string;
      readonly context: string;
      /** Whether the call ends with its caller. */
      readonly cancelOnExit: boolean;
    }
  | { readonly kind: "manual"; readonly prompt: string | null };

export const triggerKinds = [
  "cron",
  "webhook",
  "agent-call",
  "manual",
] as const satisfies readonly Trigger["kind"][];
export type TriggerKind = Trigger["kind"];

/** A trigger addressed to one agent. Its id is the id of its history entry. */
export interface WorkItem {
  readonly id: string;
  readonly agent: string;
  /** When the trigger arrived, epoch ms. */
  readonly at: number;
  /** 1 for the first try; the retry of a run that was interrupted or lost counts up. */
  readonly attempt: number;
  /** For a replay: the id of the history entry that it runs again. */
  readonly replayOf?: string;
  readonly trigger: Trigger;
}

export const outcomes = [
  "succeeded",
  "failed",
  "timed_out",
  "killed",
  "interrupted",
  "out_of_memory",
  "lost",
  "skipped",
  "missed",
  "dropped",
  "rejected",
] as const;
export type Outcome = (typeof outcomes)[number];

/** Ends that do not come from the work itself: the scheduler was stopped, or the run's machine or engine failed. */
export const retriedOutcomes = ["interrupted", "lost"] as const satisfies readonly Outcome[];

/** How often work is tried. */
const maxAttempts = 2;

/** Whether work is tried once more after a run of it ended with this outcome. */
export function isRetried({ attempt }: WorkItem, outcome: Outcome): boolean {
  const retried: readonly Outcome[] = retriedOutcomes;
  return retried.includes(outcome) && attempt < maxAttempts;
}

/** What a run used; null where the harness cannot say. */
export interface Usage {
  readonly model: string | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly turns: number | null;
}

/** Syslog-like levels in pino's numbers: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export type LogLevel = 10 | 20 | 30 | 40 | 50 | 60;

/** One line of a log file: NDJSON in pino's shape. Other fields say what the line is about. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Epoch ms. */
  readonly time: number;
  readonly msg: string;
  readonly agent: string;
  readonly instanceId?: string;
  readonly [field: string]: unknown;
}

/** How a run ended. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly usage: Usage | null;
  /** What the run returned, any JSON; absent when it returned nothing. */
  readonly value?: unknown;
  /** Present when the run asked to be run again. */
  readonly rerun?: true;
}

interface At {
  readonly agent: string;
  /** Epoch ms. */
  readonly at: number;
}

/** How an agent's image comes to be. */
export type BuildEvent =
  | { readonly type: "build-started"; readonly text: string }
  | { readonly type: "build-progress"; readonly text: string }
  | {
      readonly type: "build-finished";
      readonly error: string | null;
      /** A run can start now, with what was built or with the last good image. */
      readonly usable: boolean;
    };

/** What runs, queues and triggers report. `status$`, history and logs are folds and readers of these. */
export type RunEvent = At &
  (
    | {
        readonly type: "agent-set";
        readonly config: AgentConfig;
        readonly warnings: readonly Problem[];
        /** What changed, in one line. */
        readonly summary: string;
      }
    | { readonly type: "agent-invalid"; readonly problems: readonly Problem[] }
    | { readonly type: "agent-removed" }
    | { readonly type: "agent-enabled"; readonly enabled: boolean }
    /** What runs need beside the agent's files, such as credentials, and do not have; empty once all is there. */
    | { readonly type: "agent-requirements"; readonly unmet: readonly Problem[] }
    | BuildEvent
    /** When the schedule is due next, epoch ms; null when it is not. */
    | { readonly type: "next-run"; readonly nextRunAt: number | null }
    | { readonly type: "queue-depth"; readonly depth: number }
    | { readonly type: "queued"; readonly item: WorkItem }
    | {
        readonly type: "refused";
        readonly item: WorkItem;
        readonly outcome: "skipped" | "missed" | "dropped" | "rejected";
        readonly reason: string;
      }
    /** A run that lives waited for it: it leaves its queue, and starts none. */
    | { readonly type: "taken"; readonly item: WorkItem }
    | {
        readonly type: "started";
        readonly item: WorkItem;
        readonly instanceId: string;
        /** When an earlier scheduler started it, epoch ms; absent for a run that starts now. */
        readonly startedAt?: number;
      }
    | {
        readonly type: "output";
        readonly instanceId: string | null;
        readonly entry: LogEntry;
      }
    | { readonly type: "status-text"; readonly instanceId: string; readonly text: string }
    | {
        readonly type: "finished";
        readonly item: WorkItem;
        readonly instanceId: string;
        /** Epoch ms. */
        readonly startedAt: number;
        readonly end: RunEnd;
      }
  );

/** A run that is about to start: what is run, by which config, and how the run is called. */
export interface RunRequest {
  /** `<agent>-<8 base32 characters>`; unique, and what a person, a container and a log line call it. */
  readonly instanceId: string;
  readonly agent: AgentConfig;
  readonly item: WorkItem;
}
