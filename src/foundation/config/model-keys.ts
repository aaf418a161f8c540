import { relative, resolve } from "node:path";
import { z } from "zod";
import {
  modelApis,
  modelInputs,
  providers,
  thinkingLevels,
} from "../../../streams/agent-config.ts";
import type { ModelConfig } from "../../../streams/agent-config.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { counted } from "../contracts/format.ts";
import { modelKey, maskUserInfo, maskValues, type ModelKey } from "./config-key.ts";
import { choice, credential, headers, integer, list, maxTimerSeconds, text } from "./fields.ts";
import { priceField, priceText, ratesOf } from "./price.ts";

const authTypes = ["api_key", "oauth_token", "none"] as const;

/**
 * The keys of `[models.<name>]`. This table gives the file's schema and reference page, the resolved values, the API's
 * schema and the dashboard's facts of a model. A new key is an entry here, in ModelConfig, and its reader.
 */
export const modelKeys = {
  name: { value: z.string() },
  provider: modelKey({
    inFile: "provider",
    field: choice(providers).describe(
      'The service that runs it. "scripted" replays a script and calls no service; "custom" is any endpoint that speaks one of the APIs.',
    ),
    resolve: (given) => given,
    value: z.enum(providers),
  }),
  model: modelKey({
    inFile: "model",
    field: text('the provider\'s name of the model, e.g. "claude-sonnet-4-5"')
      .optional()
      .describe('Its name at the provider. Only "scripted" does without.'),
    resolve: (given, { provider }) => given ?? provider,
    value: z.string(),
  }),
  authType: modelKey({
    inFile: "authType",
    field: choice(authTypes)
      .optional()
      .describe(
        'How its credential is sent, whatever that looks like. Without it "api_key", for "scripted" "none".',
      ),
    resolve: (given, { provider }) => given ?? (provider === "scripted" ? "none" : "api_key"),
    value: z.enum(authTypes),
  }),
  thinkingLevel: modelKey({
    inFile: "thinkingLevel",
    field: choice(thinkingLevels)
      .optional()
      .describe("How much it thinks before it answers. Without it the harness decides."),
    resolve: orNull,
    value: z.enum(thinkingLevels).nullable(),
    fact: (level) => (level === null || level === "off" ? null : `thinking ${level}`),
  }),
  baseUrl: modelKey({
    inFile: "baseUrl",
    field: z
      .url({ protocol: /^https?$/, error: "an http or https URL" })
      .optional()
      .describe(
        'Where its API is, with or without /v1 (/v1beta for google). Without it the provider\'s own; "custom" needs it.',
      ),
    resolve: orNull,
    value: z.string().nullable(),
    canonical: (url, { mask }) => url && maskUserInfo(url, mask),
  }),
  api: modelKey({
    inFile: "api",
    field: choice(modelApis)
      .optional()
      .describe(
        'The wire format of its API. Without it the one that its provider documents, for "custom" "openai-completions".',
      ),
    resolve: orNull,
    value: z.enum(modelApis).nullable(),
    fact: (api) => api && `api ${api}`,
  }),
  contextWindow: modelKey({
    inFile: "contextWindow",
    field: integer("tokens", 1024)
      .optional()
      .describe(
        "Tokens of a request and its answer together; a longer session is summarized. Without it the model's own, or an assumption for a model that is not known.",
      ),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (tokens) => (tokens === null ? null : `window ${counted(tokens, "token")}`),
  }),
  maxTokens: modelKey({
    inFile: "maxTokens",
    field: integer("tokens", 1)
      .optional()
      .describe("The most tokens of one answer. Without it the model's own limit."),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (tokens) => (tokens === null ? null : `answers up to ${counted(tokens, "token")}`),
  }),
  input: modelKey({
    inFile: "input",
    field: list(choice(modelInputs), 'a list, e.g. ["text", "image"]')
      .min(1, { error: 'a list, e.g. ["text", "image"]' })
      .optional()
      .describe(
        'What it reads: with "image" it gets the images that tools return. Without it what is known of the model; a model that is not known, of "custom" for example, gets text only.',
      ),
    resolve: orNull,
    value: z.array(z.enum(modelInputs)).readonly().nullable(),
    fact: (kinds) => kinds && `reads ${kinds.join(" and ")}`,
  }),
  headers: modelKey({
    inFile: "headers",
    field: headers()
      .default({})
      .describe(
        "HTTP headers to send with each request, e.g. for a proxy. The key goes into a credential instead.",
      ),
    resolve: (given) => given,
    value: z
      .record(z.string(), z.string())
      .meta({ description: "Their names; each value is three asterisks" }),
    canonical: (given, { mask }) => maskValues(given, mask),
    fact: (given) => {
      const names = Object.keys(given);
      return names.length === 0 ? null : `headers ${names.join(", ")}`;
    },
  }),
  timeoutSeconds: modelKey({
    inFile: "timeout",
    field: integer("seconds", 1, maxTimerSeconds)
      .optional()
      .describe(
        "How long one request may wait for its first byte, and for each further one. Without it the harness's own limit.",
      ),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (seconds) => (seconds === null ? null : `timeout ${durationText(seconds * 1000)}`),
  }),
  maxRetries: modelKey({
    inFile: "maxRetries",
    field: integer("retries", 0, 100)
      .optional()
      .describe(
        "How often a request that failed for a passing reason is retried before the next model is tried. Without it the harness's own number.",
      ),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (count) => (count === null ? null : `retries ${count}`),
  }),
  price: modelKey({
    inFile: "price",
    field: priceField
      .optional()
      .describe(
        "What it costs, in USD per million tokens; without cacheRead and cacheWrite these cost what input costs. Without it the price of the built-in table. A model without any price is unpriced: it counts against budgets at the dearest price of its provider, and one of a server without a key as free.",
      ),
    resolve: ratesOf,
    value: z
      .object({
        input: z.number(),
        output: z.number(),
        cacheRead: z.number(),
        cacheWrite: z.number(),
      })
      .nullable()
      .meta({ description: "USD per million tokens; null for the built-in table's" }),
    fact: priceText,
  }),
  requestsPerMinute: modelKey({
    inFile: "requestsPerMinute",
    field: integer("calls", 1, 1_000_000)
      .optional()
      .describe(
        "How many calls all runs together may make to it in a minute; further ones wait for their turn.",
      ),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (count) => (count === null ? null : `${counted(count, "call")} a minute`),
  }),
  providerTools: modelKey({
    inFile: "providerTools",
    field: list(
      text('the name of a tool, e.g. "web_search"'),
      'a list of names, e.g. ["web_search", "url"]',
    )
      .default([])
      .describe(
        'What the provider may do on its own machines beside its answer: tools by their names in its API without a version ("web_search", "code_execution"), "mcp_servers", and "url" for addresses in messages, which it fetches. All else is refused: no [network] of an agent holds for it.',
      ),
    resolve: (given): readonly string[] => given,
    value: z.array(z.string()).readonly(),
    fact: (names) => (names.length === 0 ? null : `provider's tools ${names.join(", ")}`),
  }),
  extraFields: modelKey({
    inFile: "extraFields",
    field: list(
      text('a field or its path, e.g. "options.num_predict"'),
      'a list of fields, e.g. ["num_predict", "options.num_predict"]',
    )
      .default([])
      .describe(
        "Fields that requests may have beside those that the API's documentation names, as paths without positions in lists. Other fields are refused: budgets and [network] know nothing of what they do.",
      ),
    resolve: (given): readonly string[] => given,
    value: z.array(z.string()).readonly(),
    fact: (fields) => (fields.length === 0 ? null : `extra fields ${fields.join(", ")}`),
  }),
  credential: modelKey({
    inFile: "credential",
    field: credential()
      .optional()
      .describe("The credential that holds its key. Without it <provider>_key."),
    resolve: (given, { provider }) => given ?? `${provider}_key`,
    value: z.string().meta({ description: "Its name; never its value" }),
  }),
  script: modelKey({
    inFile: "script",
    field: text("the path of a script file, relative to the project")
      .optional()
      .describe('What "scripted" replays.'),
    resolve: (path, { projectDir }) => (path === undefined ? null : resolve(projectDir, path)),
    written: (path, projectDir) => path && relative(projectDir, path),
    value: z.string().nullable(),
  }),
} satisfies { readonly [Key in keyof ModelConfig]: ModelKey<ModelConfig[Key]> };

function orNull<Value>(given: Value | undefined): Value | null {
  return given ?? null;
}
