import type { ModelApi, ModelConfig, Provider } from "../../../streams/agent-config.ts";
import type { CallUsage } from "./price.ts";
import type { Script } from "./job.ts";
import { createHmac } from "node:crypto";

export type { CallUsage };

/** A model as the gateway calls it. It holds the key, so it never reaches a run. */
export interface UpstreamModel {
  /** The model's name in the project's config. */
  readonly name: string;
  readonly provider: Provider;
  /** The provider's id of the model. */
  readonly model: string;
  readonly api: ModelApi;
  /** Base URL for the clients of the API (`apiBaseUrl`); empty for a scripted model. */
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
  /** How long its provider may send nothing; null for the default. */
  readonly timeoutSeconds: number | null;
}

/** Upper limits of a call. */
export interface CallPlan {
  readonly instanceId: string;
  readonly agent: string;
  /** The model's name in the project's config. */
  readonly model: string;
  readonly providerModel: string;
  /** The size from which its tokens are estimated; an image counts at most its highest cost. */
  readonly requestBytes: number;
  /** Limit in the request, in tokens; null without one. */
  readonly maxOutputTokens: number | null;
  /** Minimum of a useful answer, in tokens: 1024, or the thinking budget and 1024. */
  readonly minOutputTokens: number;
  /** The requested tier; one that costs more is reserved at its price. */
  readonly serviceTier?: string | null;
  /** Limit of its run's spending without a person's approval, in USD; null without a gate. */
  readonly approvedUsd?: number | null;
  /** Whether the request may write cache entries for one hour. */
  readonly longCache?: boolean;
}

/** The tokens and the tier that a call is billed by. */
export interface BilledUsage {
  /** Null when the provider billed nothing. */
  readonly usage: CallUsage | null;
  /** The provider's name of the service tier, such as `flex` or `priority`. */
  readonly serviceTier: string | null;
}

/** How a call ended. */
export interface CallEnd extends BilledUsage {
  /** HTTP status of the provider; null when it gave no answer. */
  readonly status: number | null;
  /** Whether the usage was estimated from bytes, because the stream ended before it. */
  readonly estimated: boolean;
  /** The cost as the provider reported it, in USD; null without such a report. */
  readonly usd: number | null;
  /**
   * Whether the scheduler stopped reading before the usage came: the client had hung up, as a killed run does, or the
   * scheduler itself stopped.
   */
  readonly isCut: boolean;
  /**
   * Whether the call was cut because its run hung up by itself. Such a call is charged at least its reservation, or a run
   * could evade its budget.
   */
  readonly isHungUp: boolean;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

export interface CallGrant {
  readonly granted: true;
  /** Limit to set on the request, in tokens; null leaves it unchanged. */
  readonly maxOutputTokens: number | null;
  /** Stores what the call has cost so far, for a scheduler that dies before the call ends. */
  seen(soFar: CallEnd): void;
  /** Must be called once. */
  settle(end: CallEnd): void;
}

export interface CallRefusal {
  readonly granted: false;
  /** `not_approved`: the run would spend more than a person approved. */
  readonly code: "budget_exceeded" | "too_many_turns" | "rate_limited" | "not_approved";
  /** For a person. */
  readonly detail: string;
}

/** Reserves the cost of calls to models before they are made, and settles it afterwards. */
export interface Meter {
  /** A grant is durable when this resolves with it. Rejects with the reason of `signal`. */
  begin(plan: CallPlan, signal: AbortSignal): Promise<CallGrant | CallRefusal>;
}

/** The answer of a scripted model. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly string[];
}

/** Responds to a chat completion as a script says. Rejects with the reason of `signal`. */
export type AnswerScript = (
  script: Script,
  body: unknown,
  signal: AbortSignal,
) => Promise<ScriptedAnswer>;

/** The user of the bridge's Basic authentication; only the key counts. */
export const bridgeUser = "al";

/**
 * The key of a run's bridge. It is derived from the run's token, so that redactors of the token know the key too; the
 * token can't be derived from it.
 */
export function bridgeKey(token: string): string {
  return createHmac("sha256", token).update("bridge").digest("hex").slice(0, 48);
}

/** Prefix of the keys of Anthropic's subscriptions, by which clients choose how to authenticate. */
export const oauthMark = "sk-ant-oat01-";

/** Stands for the host of a scripted model, which has none. */
const scriptedHost = "scripted";

/**
 * Where a run calls a model: `/model/<name>/<host of the provider>/<path>`. The host is included because pi derives an
 * API's features from the address. `upstream` is the base URL for the API's clients; empty for scripted models.
 */
export function modelPath(name: string, upstream: string): string {
  const { host, pathname } =
    upstream === "" ? { host: scriptedHost, pathname: "/v1" } : new URL(upstream);
  return `/model/${encodeURIComponent(name)}/${host}${pathname === "/" ? "" : pathname}`;
}

/** Header of a request: the id under which the harness asks for the verdict on the call. */
export const callHeader = "x-al-call";

/** Header of a request: how long the model may send nothing until the call is ended for its client, in ms. */
export const silenceHeader = "x-al-silence-ms";

/** Header of a request of a command line, which retries by the status and the end of an answer, not by the verdict. */
export const cliHeader = "x-al-cli";

/** Code of a call that fails only for lack of money. */
export const noMoneyCode = "budget_exceeded";
