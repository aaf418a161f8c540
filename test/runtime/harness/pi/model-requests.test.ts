import { requestsOf, type Asked, type AskedModel } from "./requests.ts";

const messages = "/v1/messages?beta=true";
const responses = "/responses";
const completions = "/chat/completions";
const mistral = "/v1/chat/completions";
const gemini = (model: string) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`;

const adaptive = { type: "adaptive", display: "summarized" };
const budget = { type: "enabled", budget_tokens: 8192, display: "summarized" };
const reasoning = { effort: "medium", summary: "auto" };

/** What a request must have: its path, the limit of the answer and its thinking; undefined for what must not be sent. */
type Row = readonly [
  provider: NonNullable<AskedModel["provider"]>,
  model: string,
  path: string,
  limit: number | undefined,
  thinking: unknown,
];

const medium = { includeThoughts: true, thinkingLevel: "MEDIUM" };
const thoughts = (thinkingBudget: number) => ({ includeThoughts: true, thinkingBudget });

const rows: readonly Row[] = [
  ["anthropic", "claude-sonnet-4-5", messages, 64_000, budget],
  ["anthropic", "claude-opus-4-8", messages, 128_000, adaptive],
  ["anthropic", "claude-opus-6", messages, 64_000, adaptive],
  ["anthropic", "claude-3-7-sonnet-latest", messages, 64_000, budget],
  ["anthropic", "claude-3-5-haiku-latest", messages, 8192, undefined],
  ["openai", "gpt-5.5", responses, 128_000, reasoning],
  ["openai", "gpt-6", responses, undefined, reasoning],
  ["openai", "gpt-4.1-2025-04-14", responses, undefined, undefined],
  ["google", "gemini-2.5-pro", gemini("gemini-2.5-pro"), 65_536, thoughts(8192)],
  ["google", "gemini-4-pro", gemini("gemini-4-pro"), undefined, medium],
  ["groq", "openai/gpt-oss-120b", completions, 65_536, "medium"],
  ["groq", "new/model", completions, undefined, undefined],
  ["xai", "grok-4.3", responses, 30_000, reasoning],
  ["xai", "grok-5", responses, undefined, reasoning],
  ["xai", "grok-code-fast-1", responses, undefined, undefined],
  ["mistral", "mistral-small-2506", mistral, 16_384, undefined],
  ["mistral", "mistral-next", mistral, undefined, undefined],
  ["openrouter", "anthropic/claude-opus-5", messages, 128_000, adaptive],
  ["openrouter", "anthropic/claude-opus-6", completions, undefined, { effort: "medium" }],
  ["custom", "llama", completions, undefined, undefined],
];

test("requests to listed models use the provider's API, the listed output limit and the model family's reasoning settings", async () => {
  const asked = await requestsOf(rows.map(([provider, model]) => ({ provider, model })));
  expect(asked.map(seen)).toEqual(
    rows.map(([, model, path, limit, thinking]) => ({ model, path, limit, thinking })),
  );
});

test("the request to an unlisted model of Anthropic names no fallback model", async () => {
  const [asked] = await requestsOf([{ provider: "anthropic", model: "claude-opus-6" }]);
  expect(asked?.body).not.toHaveProperty("fallbacks");
  expect(asked?.headers).not.toHaveProperty("anthropic-beta");
});

test.each<[AskedModel, string]>([
  [{ provider: "anthropic", model: "claude-opus-6" }, messages],
  [{ provider: "openai", model: "gpt-6", api: "openai-completions" }, completions],
  [{ provider: "custom", model: "llama", api: "anthropic-messages" }, messages],
  [{ provider: "custom", model: "llama", api: "openai-responses" }, responses],
  [{ provider: "custom", model: "llama", api: "google-generative-ai" }, gemini("llama")],
])("the request to a model uses the configured API and maxTokens: %j", async (model, path) => {
  const [asked] = await requestsOf([{ ...model, maxTokens: 1234 }]);
  expect(asked && seen(asked)).toMatchObject({ path, limit: 1234 });
});

test.each([
  ["oauth_token", "contains", true],
  ["api_key", "omits", false],
] as const)(
  "a request to Anthropic with an %s %s the header and prompt of Claude Code",
  async (authType, _verb, isOauth) => {
    const model = { provider: "anthropic", model: "claude-opus-4-8", authType } as const;
    const [asked] = await requestsOf([{ ...model, key: "sk-ant-oat01-token" }]);
    const { headers, body } = asked ?? {};
    const hasFeature = (headers?.["anthropic-beta"] ?? "").includes("oauth-2025-04-20");
    const isNamed = JSON.stringify(body?.system).includes("You are Claude Code");
    expect([hasFeature, isNamed]).toEqual([isOauth, isOauth]);
  },
);

test("a request to a custom server asks for reasoning only if thinkingLevel is not off", async () => {
  const custom = { provider: "custom", model: "llama", thinkingLevel: "high" } as const;
  const asked = await requestsOf([custom, { ...custom, thinkingLevel: "off" }]);
  expect(asked.map((one) => seen(one).thinking)).toEqual(["high", undefined]);
});

function seen({ path, body }: Asked) {
  const google = body.generationConfig as
    | { readonly maxOutputTokens?: number; readonly thinkingConfig?: unknown }
    | undefined;
  const { max_tokens, max_output_tokens, max_completion_tokens } = body;
  return {
    model: body.model ?? /\/models\/([^:]+)/.exec(path)?.[1],
    path,
    limit: max_tokens ?? max_output_tokens ?? max_completion_tokens ?? google?.maxOutputTokens,
    thinking: body.thinking ?? body.reasoning ?? body.reasoning_effort ?? google?.thinkingConfig,
  };
}
