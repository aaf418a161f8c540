import { requestsOf, type Asked, type AskedModel } from "./requests.ts";

const messages = "/v1/messages?beta=true";
const responses = "/responses";
const completions = "/chat/completions";
const mistral = "/v1/chat/completions";
const gemini = (model: string) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`;

const adaptive = { type: "adaptive", display: "summarized" };
const budget = { type: "enabled", budget_tokens: 8192, display: "summarized" };
const reasoning = { effort: "medium", summary: "auto" };

/** Settings of a request that make or cut the answer; a row has them all, undefined for what must not be sent. */
interface Row {
  readonly path: string;
  /** The limit of the answer, wherever the wire has it. */
  readonly limit: number | undefined;
  readonly thinking: unknown;
}

const rows: readonly (readonly [AskedModel["provider"], string, Row])[] = [
  ["anthropic", "claude-sonnet-4-5", { path: messages, limit: 64_000, thinking: budget }],
  ["anthropic", "claude-opus-4-8", { path: messages, limit: 128_000, thinking: adaptive }],
  ["anthropic", "claude-opus-6", { path: messages, limit: 64_000, thinking: adaptive }],
  ["anthropic", "claude-opus-4-1", { path: messages, limit: 32_000, thinking: budget }],
  ["anthropic", "claude-sonnet-4-20250514", { path: messages, limit: 64_000, thinking: budget }],
  ["anthropic", "claude-3-7-sonnet-latest", { path: messages, limit: 64_000, thinking: budget }],
  ["anthropic", "claude-3-5-haiku-latest", { path: messages, limit: 8192, thinking: undefined }],
  ["anthropic", "claude-3-opus-20240229", { path: messages, limit: 4096, thinking: undefined }],
  ["openai", "gpt-5.5", { path: responses, limit: 128_000, thinking: reasoning }],
  ["openai", "gpt-6", { path: responses, limit: undefined, thinking: reasoning }],
  ["openai", "gpt-5-codex", { path: responses, limit: undefined, thinking: reasoning }],
  ["openai", "gpt-4.1-2025-04-14", { path: responses, limit: undefined, thinking: undefined }],
  [
    "google",
    "gemini-2.5-pro",
    {
      path: gemini("gemini-2.5-pro"),
      limit: 65_536,
      thinking: { includeThoughts: true, thinkingBudget: 8192 },
    },
  ],
  [
    "google",
    "gemini-4-pro",
    {
      path: gemini("gemini-4-pro"),
      limit: undefined,
      thinking: { includeThoughts: true, thinkingBudget: -1 },
    },
  ],
  ["groq", "openai/gpt-oss-120b", { path: completions, limit: 65_536, thinking: "medium" }],
  ["groq", "new/model", { path: completions, limit: undefined, thinking: undefined }],
  ["xai", "grok-4.3", { path: responses, limit: 30_000, thinking: reasoning }],
  ["xai", "grok-5", { path: responses, limit: undefined, thinking: reasoning }],
  ["xai", "grok-code-fast-1", { path: responses, limit: undefined, thinking: undefined }],
  ["mistral", "mistral-small-2506", { path: mistral, limit: 16_384, thinking: undefined }],
  ["mistral", "mistral-next", { path: mistral, limit: undefined, thinking: undefined }],
  ["openrouter", "anthropic/claude-opus-5", { path: messages, limit: 128_000, thinking: adaptive }],
  [
    "openrouter",
    "anthropic/claude-opus-6",
    { path: completions, limit: undefined, thinking: { effort: "medium" } },
  ],
  [
    "openrouter",
    "new/model",
    { path: completions, limit: undefined, thinking: { effort: "medium" } },
  ],
  ["custom", "llama", { path: completions, limit: undefined, thinking: undefined }],
];

test("the request for a model is that of its provider's API, with the listed limits or none, and reasons as models of its family do", async () => {
  const models = rows.map(([provider = "custom", model]) => ({ provider, model }));
  const asked = await requestsOf(models);
  expect(asked.map(seen)).toEqual(rows.map(([, model, row]) => ({ model, ...row })));
});

test("the request for a model names no fallback of the provider for a model that is not listed", async () => {
  const [asked] = await requestsOf([{ provider: "anthropic", model: "claude-opus-6" }]);
  expect(asked?.body).not.toHaveProperty("fallbacks");
  expect(asked?.headers).not.toHaveProperty("anthropic-beta");
});

test("the request for a model has the limits, headers and wire that the config sets, for the user's own server too", async () => {
  const maxTokens = 1234;
  const headers = { "X-Team": "platform" };
  const asked = await requestsOf([
    { provider: "anthropic", model: "claude-opus-6", maxTokens, headers },
    { provider: "openai", model: "gpt-5.5", maxTokens, headers },
    { provider: "openai", model: "gpt-6", maxTokens, headers, api: "openai-completions" },
    { provider: "google", model: "gemini-4-pro", maxTokens, headers },
    { provider: "mistral", model: "mistral-next", maxTokens, headers },
    { provider: "custom", model: "llama", maxTokens, headers },
    { provider: "custom", model: "llama", maxTokens, headers, api: "anthropic-messages" },
    { provider: "custom", model: "llama", maxTokens, headers, api: "openai-responses" },
    { provider: "custom", model: "llama", maxTokens, headers, api: "google-generative-ai" },
  ]);
  expect(asked.map(({ path }) => path)).toEqual([
    messages,
    responses,
    completions,
    gemini("gemini-4-pro"),
    mistral,
    completions,
    messages,
    responses,
    gemini("llama"),
  ]);
  for (const one of asked) {
    expect(seen(one).limit).toBe(maxTokens);
    expect(one.headers).toMatchObject({ "x-team": "platform" });
  }
});

test("the request for a model asks the user's own server to reason only if the config says so", async () => {
  const custom = { provider: "custom", model: "llama", thinkingLevel: "high" } as const;
  const asked = await requestsOf([custom, { ...custom, thinkingLevel: "off" }]);
  expect(asked.map((one) => seen(one).thinking)).toEqual(["high", undefined]);
});

function seen({ path, body }: Asked) {
  const google = body.generationConfig as
    | { readonly maxOutputTokens?: number; readonly thinkingConfig?: unknown }
    | undefined;
  const model = typeof body.model === "string" ? body.model : modelIn(path);
  return {
    model,
    path,
    limit:
      body.max_tokens ??
      body.max_output_tokens ??
      body.max_completion_tokens ??
      google?.maxOutputTokens,
    thinking: body.thinking ?? body.reasoning ?? body.reasoning_effort ?? google?.thinkingConfig,
  };
}

function modelIn(path: string): string | undefined {
  return /\/models\/([^:]+)/.exec(path)?.[1];
}
