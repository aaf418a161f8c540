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
import { withScheme } from "./server-address.ts";
import { priceField, priceText, ratesOf } from "./price.ts";

const serverExpected = 'an http or https URL, e.g. "http://localhost:11434/v1"';
const httpAddress = z.url({ protocol: /^https?$/ });

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
      'The service that runs the model. "scripted" replays a script without calling a service; "custom" is any endpoint with one of the supported APIs.',
    ),
    resolve: (given) => given,
    value: z.enum(providers),
  }),
  model: modelKey({
    inFile: "model",
    field: text('the provider\'s name of the model, e.g. "claude-sonnet-4-5"')
      .optional()
      .describe('The provider\'s model ID. Required, except for "scripted".'),
    resolve: (given, { provider }) => given ?? provider,
    value: z.string(),
  }),
  authType: modelKey({
    inFile: "authType",
    field: choice(authTypes).optional().meta({
      description: "How to send the credential, regardless of its format.",
      fallback: '`"api_key"`; `"none"` for "scripted"',
    }),
    resolve: (given, { provider }) => given ?? (provider === "scripted" ? "none" : "api_key"),
    value: z.enum(authTypes),
  }),
  thinkingLevel: modelKey({
    inFile: "thinkingLevel",
    field: choice(thinkingLevels).optional().meta({
      description: "How much the model reasons before it answers.",
      fallback: "chosen by the harness",
    }),
    resolve: orNull,
    value: z.enum(thinkingLevels).nullable(),
    fact: (level) => (level === null || level === "off" ? null : `thinking ${level}`),
  }),
  baseUrl: modelKey({
    inFile: "baseUrl",
    field: z
      .string({ error: serverExpected })
      .refine((address) => httpAddress.safeParse(withScheme(address)).success, {
        error: serverExpected,
      })
      .optional()
      .meta({
        description:
          'Address of the API, with or without /v1 (/v1beta for google). Without a scheme, it is http for this machine and private networks, else https. Required for "custom".',
        fallback: "the provider's address",
      }),
    resolve: (address) => (address === undefined ? null : withScheme(address)),
    value: z.string().nullable(),
    canonical: (url, { mask }) => url && maskUserInfo(url, mask),
  }),
  api: modelKey({
    inFile: "api",
    field: choice(modelApis).optional().meta({
      description: "Wire format of the API.",
      fallback: 'the provider\'s format; `"openai-completions"` for "custom"',
    }),
    resolve: orNull,
    value: z.enum(modelApis).nullable(),
    fact: (api) => api && `api ${api}`,
  }),
  contextWindow: modelKey({
    inFile: "contextWindow",
    field: integer("tokens", 1024).optional().meta({
      description:
        "Maximum tokens of a request and its answer together. Longer sessions are summarized.",
      fallback: "the model's window; an estimate for unknown models",
    }),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (tokens) => (tokens === null ? null : `window ${counted(tokens, "token")}`),
  }),
  maxTokens: modelKey({
    inFile: "maxTokens",
    field: integer("tokens", 1)
      .optional()
      .meta({ description: "Maximum tokens per answer.", fallback: "the model's limit" }),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (tokens) => (tokens === null ? null : `answers up to ${counted(tokens, "token")}`),
  }),
  input: modelKey({
    inFile: "input",
    field: list(choice(modelInputs), 'a list, e.g. ["text", "image"]')
      .min(1, { error: 'a list, e.g. ["text", "image"]' })
      .optional()
      .meta({
        description:
          'Types of input the model accepts. With "image", it receives images that tools return.',
        fallback: "the model's known types; text only for unknown models",
      }),
    resolve: orNull,
    value: z.array(z.enum(modelInputs)).readonly().nullable(),
    fact: (kinds) => kinds && `reads ${kinds.join(" and ")}`,
  }),
  headers: modelKey({
    inFile: "headers",
    field: headers()
      .default({})
      .describe(
        "HTTP headers to send with each request, e.g. for a proxy. Store API keys in a credential instead.",
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
    field: integer("seconds", 1, maxTimerSeconds).optional().meta({
      description: "How long a request may wait for its first byte, and between bytes.",
      fallback: "chosen by the harness",
    }),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (seconds) => (seconds === null ? null : `timeout ${durationText(seconds * 1000)}`),
  }),
  maxRetries: modelKey({
    inFile: "maxRetries",
    field: integer("retries", 0, 100).optional().meta({
      description:
        "How often to retry a request after a temporary failure before trying the next model.",
      fallback: "chosen by the harness",
    }),
    resolve: orNull,
    value: z.int().nullable(),
    fact: (count) => (count === null ? null : `retries ${count}`),
  }),
  price: modelKey({
    inFile: "price",
    field: priceField.optional().meta({
      description:
        "Price in USD per million tokens. `cacheRead` and `cacheWrite` default to the price of `input`. Unpriced models are charged at the provider's highest price; models on servers without a key are free.",
      fallback: "the built-in price table",
    }),
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
    field: integer("calls", 1, 1_000_000).optional().meta({
      description:
        "Maximum number of calls to the model per minute, over all runs. Further calls are queued.",
      fallback: "no limit",
    }),
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
        'Tools that the provider may run on its own machines: their names in the provider\'s API without a version ("web_search", "code_execution"), "mcp_servers", and "url" for addresses in messages that the provider fetches. Requests with any other are refused, because `[network]` can\'t restrict the provider\'s machines.',
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
        "Request fields to allow in addition to those documented for the API, as paths without list positions. Other fields are refused, because budgets and `[network]` can't take their effects into account.",
      ),
    resolve: (given): readonly string[] => given,
    value: z.array(z.string()).readonly(),
    fact: (fields) => (fields.length === 0 ? null : `extra fields ${fields.join(", ")}`),
  }),
  credential: modelKey({
    inFile: "credential",
    field: credential().optional().meta({
      description: "The credential that contains the API key.",
      fallback: "`<provider>_key`",
    }),
    resolve: (given, { provider }) => given ?? `${provider}_key`,
    value: z.string().meta({ description: "Its name; never its value" }),
  }),
  script: modelKey({
    inFile: "script",
    field: text("the path of a script file, relative to the project")
      .optional()
      .describe('The script that "scripted" replays.'),
    resolve: (path, { projectDir }) => (path === undefined ? null : resolve(projectDir, path)),
    written: (path, projectDir) => path && relative(projectDir, path),
    value: z.string().nullable(),
  }),
} satisfies { readonly [Key in keyof ModelConfig]: ModelKey<ModelConfig[Key]> };

function orNull<Value>(given: Value | undefined): Value | null {
  return given ?? null;
}
