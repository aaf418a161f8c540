import { z } from "zod";
import { counted } from "../../foundation/contracts/format.ts";
import { unknownAgent } from "../../foundation/contracts/params.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { createdTokenSchema, newTokenSchema, tokenParams, tokensSchema } from "./token-report.ts";
import type { NewToken } from "./token-report.ts";
import type { Tokens } from "./tokens.ts";

export interface TokenContext {
  readonly tokens: Tokens;
  /** Undefined for an unknown agent. */
  readonly status: { readonly agent: (name: string) => unknown };
}

const { read, change } = operationsOf<TokenContext>("Tokens");

export const listTokens = read("/api/tokens", {
  summary: "The API tokens, without their secrets",
  scope: null,
  output: tokensSchema,
  perform: (_input, { tokens }) => tokens.list(),
});

/** Creates a token for agents that exist: a misspelled name would only be noticed much later. */
export const createToken = change("/api/tokens", {
  summary: "Create an API token",
  description:
    "The answer is the only one with its secret. An expired token of the same name is replaced.",
  input: newTokenSchema,
  output: createdTokenSchema,
  status: 201,
  isSecret: true,
  problems: [404, 409, 503],
  audit: (input) => ({ act: "token-new", detail: tokenText(input) }),
  perform: (input, { tokens, status }) => {
    const unknown = input.agents?.find((agent) => status.agent(agent) === undefined);
    if (unknown !== undefined) throw unknownAgent(unknown);
    return tokens.create(input);
  },
});

export const removeToken = change("/api/tokens/:name/remove", {
  summary: "Remove an API token; requests and streams with it end at once",
  params: tokenParams,
  output: z.object({ success: z.literal(true), name: z.string() }),
  problems: [404, 503],
  audit: ({ name }) => ({ act: "token-remove", detail: name }),
  perform: async ({ name }, { tokens }) => {
    await tokens.remove(name);
    return { success: true as const, name };
  },
});

/** A new token in one line: `claude: read, trigger of dev, for 90 days`. */
function tokenText({ name, scopes, agents, days }: NewToken): string {
  const whose = agents ? ` of ${agents.join(", ")}` : "";
  return `${name}: ${scopes.join(", ")}${whose}, for ${counted(days, "day")}`;
}
