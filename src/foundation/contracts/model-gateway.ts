import type { ModelApi, ModelConfig, Provider } from "../../../streams/agent-config.ts";
import type { CallUsage } from "./price.ts";
import type { Script } from "./job.ts";

export type { CallUsage };

/** A model as the gateway asks it. It holds the key, so it is never handed to a run. */
export interface UpstreamModel {
  /** Its name in the project's config. */
  readonly name: string;
  readonly provider: Provider;
  /** The provider's id of it. */
  readonly model: string;
  readonly api: ModelApi;
  /** As the clients of the API want it (`apiBaseUrl`); empty for a scripted model. */
  readonly baseUrl: string;
  readonly authType: ModelConfig["authType"];
  /** Null when `authType` is `none`. */
  readonly key: string | null;
  /** Headers of the config, added outside of the run; the values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Set for the `scripted` provider. */
  readonly script: Script | null;
  /** Tools that the provider may run on its own machines, by the names that `[models.<name>].providerTools` takes. */
  readonly providerTools: readonly string[];
  /** Fields that its requests may have beside the documented ones: paths such as `options.num_predict`. */
  readonly extraFields: readonly string[];
  /** How long its provider may send nothing; null for the usual time. */
  readonly timeoutSeconds: number | null;
}

/** What a call may need at most. */
export interface CallPlan {
  readonly instanceId: string;
  readonly agent: string;
  /** The model's name in the project's config. */
  readonly model: string;
  readonly providerModel: string;
  /** The size that its tokens are estimated from; an image counts at most what it can cost. */
  readonly requestBytes: number;
  /** Tokens, as the request has it; null when it sets no limit. */
  readonly maxOutputTokens: number | null;
  /** Tokens under which an answer is of no use: 1024, or the thinking budget and 1024. */
  readonly minOutputTokens: number;
  /** As the request asks for it; one that costs more is reserved at its price. */
  readonly serviceTier?: string | null;
  /** Whether the request may write cache entries for one hour. */
  readonly longCache?: boolean;
}

/** How a call ended. */
export interface CallEnd {
  /** HTTP status of the provider; null when it gave no answer. */
  readonly status: number | null;
  /** Null when the provider billed nothing. */
  readonly usage: CallUsage | null;
  /** Whether the usage was worked out from bytes, because the stream was cut before it had it. */
  readonly estimated: boolean;
  /**
   * Whether the scheduler stopped reading before the usage came: the client had hung up, as a killed run does, or the
   * scheduler itself stopped. Such a call is charged what was reserved at least, as the provider may bill it.
   */
  readonly isCut: boolean;
  /** As the provider names it, such as `flex` or `priority`. */
  readonly serviceTier: string | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

export interface CallGrant {
  readonly granted: true;
  /** Limit to set on the request, in tokens; null leaves it as asked. */
  readonly maxOutputTokens: number | null;
  /** To be called once. */
  settle(end: CallEnd): void;
}

export interface CallRefusal {
  readonly granted: false;
  readonly code: "budget_exceeded" | "too_many_turns" | "rate_limited";
  /** For a person. */
  readonly detail: string;
}

/** Reserves the cost of calls before they are made, and settles it after. */
export interface Meter {
  /** A grant is durable when this resolves with it. Rejects with the reason of `signal`. */
  begin(plan: CallPlan, signal: AbortSignal): Promise<CallGrant | CallRefusal>;
}

/** What a scripted model answers. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly string[];
}

/** Answers a request for a chat completion as a script has it. Rejects with the reason of `signal`. */
export type AnswerScript = (
  script: Script,
  body: unknown,
  signal: AbortSignal,
) => Promise<ScriptedAnswer>;
