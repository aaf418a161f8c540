/**
 * The scopes of API tokens. `read`: all GET routes of the API. `trigger`: starts work: trigger, start now, replay, continue.
 * `control`: changes running work, agents, budgets and alerts. `answer`: answers questions of runs.
 */
export const scopes = ["read", "trigger", "control", "answer"] as const;
export type Scope = (typeof scopes)[number];

/** The most days of a token, and how many tokens there may be. */
export const tokenLimits = { defaultDays: 90, maxDays: 366, tokens: 100 } as const;

/** An API token as the gateway checks it. */
export interface ApiToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The only agents that it may be used for; null for all. */
  readonly agents: readonly string[] | null;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** Prefix of the secret text of an API token; 43 characters of base64url follow. */
export const apiTokenPrefix = "al_";
/** Finds API tokens in a text, whose line ends may be missing. */
export const apiTokenPattern = /al_[\w-]{43}/g;
