import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { emptyAnswer, post, startWire, testMeter } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** Asks with these fields and a grant of so many tokens; resolves with what the meter and the provider got. */
async function ask(
  wire: Wire,
  more: object,
  granted: number | null = null,
  model: Partial<UpstreamModel> = {},
) {
  const meter = testMeter({ maxOutputTokens: granted });
  const { provider, plainUrl } = await startWire(wire, emptyAnswer, { model, meter });
  const reply = await post(plainUrl, { ...wire.plainBody, ...more });
  return { reply, plan: meter.plans[0], sent: provider.asked[0]?.json };
}

const thinking = { type: "enabled", budget_tokens: 16_000, display: "summarized" };

test.each([anthropic, responses, completions, mistral])(
  "a model call uses the model in its URL, even if the body names another: $title",
  async (wire) =>
    expect((await ask(wire, { model: "dearest" })).sent).toMatchObject({ model: "model-1" }),
);

describe("the output limit of a model call", () => {
  test.each([
    [anthropic, { max_tokens: 9000 }],
    [responses, { max_output_tokens: 9000 }],
    [completions, { max_completion_tokens: 9000 }],
    [mistral, { max_tokens: 9000 }],
    [google, { generationConfig: { maxOutputTokens: 9000, temperature: 0 } }],
  ])("is kept as requested: $title", async (wire, more) => {
    const { plan, sent } = await ask(wire, more);
    expect(plan).toMatchObject({
      instanceId: "run-1",
      agent: "agent of run-1",
      model: "one",
      providerModel: "model-1",
      requestBytes: JSON.stringify({ ...wire.plainBody, ...more }).length,
      maxOutputTokens: 9000,
      minOutputTokens: 1024,
    });
    expect(sent).toMatchObject(more);
  });

  const both = { max_completion_tokens: 9000, max_tokens: 9001 };
  test.each([
    [anthropic, { max_tokens: 9000 }, { max_tokens: 2000 }],
    [responses, {}, { max_output_tokens: 2000 }],
    [completions, {}, { max_tokens: 2000 }],
    [completions, { max_completion_tokens: 9000 }, { max_completion_tokens: 2000 }],
    [completions, both, { max_completion_tokens: 2000, max_tokens: 2000 }],
    [mistral, {}, { max_tokens: 2000 }],
    [google, {}, { generationConfig: { maxOutputTokens: 2000 } }],
    [
      google,
      { generation_config: { max_output_tokens: 9000, top_k: 3 } },
      { generationConfig: { maxOutputTokens: 2000, topK: 3 } },
    ],
  ])("is set to the tokens that the budget grants: $title", async (wire, more, expected) =>
    expect((await ask(wire, more, 2000)).sent).toEqual({ ...wire.plainBody, ...expected }),
  );

  test.each(["openai", "groq"] as const)(
    "is sent as max_completion_tokens to %s",
    async (provider) => {
      const { sent } = await ask(completions, {}, 2000, { provider });
      expect(sent).toMatchObject({ max_completion_tokens: 2000 });
      expect(sent).not.toHaveProperty("max_tokens");
    },
  );

  test("is at least 16 for the Responses API", async () =>
    expect((await ask(responses, {}, 3)).sent).toMatchObject({ max_output_tokens: 16 }));

  test.each([
    [17_024, anthropic, { max_tokens: 32_000, thinking }],
    [1, anthropic, { max_tokens: 1 }],
    [1524, google, { generationConfig: { thinkingConfig: { thinkingBudget: 500 } } }],
    [1024, google, { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }],
  ])(
    "has a minimum of %i tokens: the thinking budget plus 1024, or as requested",
    async (...row) => {
      const [minOutputTokens, wire, more] = row;
      expect((await ask(wire, more)).plan).toMatchObject({ minOutputTokens });
    },
  );

  test.each([
    [20_000, thinking],
    [5000, { ...thinking, budget_tokens: 3976 }],
    [1500, { type: "disabled" }],
  ])("is lowered to %i with the thinking %j for Anthropic", async (granted, expected) => {
    const { sent } = await ask(anthropic, { max_tokens: 32_000, thinking }, granted);
    expect(sent).toMatchObject({ max_tokens: granted, thinking: expected });
  });

  test.each([
    ["max_tokens", { max_tokens: "9000" }, anthropic],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 0.5 } }, anthropic],
    ["max_output_tokens", { max_output_tokens: [9000] }, responses],
    ["max_tokens", { max_tokens: 0 }, completions],
    ["max_tokens", { max_tokens: 1e300 }, completions],
    ["max_completion_tokens", { max_tokens: 9, max_completion_tokens: "9000" }, completions],
    ["max_tokens", { max_tokens: true }, mistral],
    ["generationConfig.maxOutputTokens", { generationConfig: { max_output_tokens: "9" } }, google],
    ["thinkingBudget", { generationConfig: { thinking_config: { thinking_budget: -2 } } }, google],
  ])("is rejected unless %s is a positive whole number: %j", async (field, more, wire) => {
    const { reply, plan, sent } = await ask(wire, more, 2000);
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(new RegExp(`${field}.*(a whole number of tokens|a different form)`));
    expect([plan, sent]).toEqual([undefined, undefined]);
  });
});

test.each([
  ["1h", "long", true],
  ["5m", "short", false],
])(
  "the model gateway reserves the cost of a nested cache with ttl %s as that of a %s cache",
  async (ttl, _term, longCache) => {
    const part = { type: "text", text: "x", cache_control: { type: "ephemeral", ttl } };
    const result = { type: "tool_result", tool_use_id: "1", content: [part] };
    const { plan } = await ask(anthropic, { messages: [{ role: "user", content: [result] }] });
    expect(plan).toMatchObject({ longCache });
  },
);

describe("the model gateway", () => {
  test("removes fallback models unless providerTools lists them", async () => {
    const fallbacks = [{ model: "claude-dearest" }];
    expect((await ask(anthropic, { fallbacks })).sent).not.toHaveProperty("fallbacks");
    const allowed = await ask(anthropic, { fallbacks }, null, { providerTools: ["fallbacks"] });
    expect(allowed.sent).toMatchObject({ fallbacks });
  });

  test.each([true, 1, "true"])(
    "requests the usage of a chat completion with stream = %j",
    async (stream) => {
      const stream_options = { include_usage: false, include_obfuscation: false };
      const { sent } = await ask(completions, { stream, stream_options });
      expect(sent?.stream_options).toEqual({ ...stream_options, include_usage: true });
    },
  );

  test("requests no usage without a stream, or from Mistral", async () => {
    expect((await ask(completions, {})).sent).not.toHaveProperty("stream_options");
    expect((await ask(mistral, { stream: true })).sent).not.toHaveProperty("stream_options");
  });

  test('sets OpenAI\'s service tier to "default" unless the request sets another', async () => {
    for (const wire of [completions, responses]) {
      const { sent } = await ask(wire, { service_tier: null }, null, { provider: "openai" });
      expect(sent).toMatchObject({ service_tier: "default" });
    }
    const other = await ask(completions, {}, null, { provider: "groq" });
    expect(other.sent).not.toHaveProperty("service_tier");
    const { sent, plan } = await ask(responses, { service_tier: "auto" });
    expect([sent?.service_tier, plan?.serviceTier]).toEqual(["auto", "auto"]);
  });
});
