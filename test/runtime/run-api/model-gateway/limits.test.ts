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
  "a request asks the model of its address, whatever its body names: $title",
  async (wire) =>
    expect((await ask(wire, { model: "dearest" })).sent).toMatchObject({ model: "model-1" }),
);

describe("the limit of an answer", () => {
  test.each([
    [anthropic, { max_tokens: 9000 }],
    [responses, { max_output_tokens: 9000 }],
    [completions, { max_completion_tokens: 9000 }],
    [mistral, { max_tokens: 9000 }],
    [google, { generationConfig: { maxOutputTokens: 9000, temperature: 0 } }],
  ])("is read, and kept as requested: $0.title", async (wire, more) => {
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
  ])("becomes the granted one: $0.title %j", async (wire, more, expected) =>
    expect((await ask(wire, more, 2000)).sent).toEqual({ ...wire.plainBody, ...expected }),
  );

  test.each(["openai", "groq"] as const)("has the new name for %s", async (provider) => {
    const { sent } = await ask(completions, {}, 2000, { provider });
    expect(sent).toMatchObject({ max_completion_tokens: 2000 });
    expect(sent).not.toHaveProperty("max_tokens");
  });

  test("stays above the minimum of the Responses API", async () =>
    expect((await ask(responses, {}, 3)).sent).toMatchObject({ max_output_tokens: 16 }));

  test.each([
    [anthropic, { max_tokens: 32_000, thinking }, 17_024],
    [anthropic, { max_tokens: 1 }, 1],
    [google, { generationConfig: { thinkingConfig: { thinkingBudget: 500 } } }, 1524],
    [google, { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, 1024],
  ])("is at least an answer and its thinking, or as short as requested: %$", async (...row) => {
    const [wire, more, minOutputTokens] = row;
    expect((await ask(wire, more)).plan).toMatchObject({ minOutputTokens });
  });

  test.each([
    [20_000, thinking],
    [5000, { ...thinking, budget_tokens: 3976 }],
    [1500, { type: "disabled" }],
  ])("of %i keeps Anthropic's thinking below it, or turns it off", async (granted, expected) => {
    const { sent } = await ask(anthropic, { max_tokens: 32_000, thinking }, granted);
    expect(sent).toMatchObject({ max_tokens: granted, thinking: expected });
  });

  test.each([
    [anthropic, "max_tokens", { max_tokens: "9000" }],
    [anthropic, "thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 0.5 } }],
    [responses, "max_output_tokens", { max_output_tokens: [9000] }],
    [completions, "max_tokens", { max_tokens: 0 }],
    [completions, "max_tokens", { max_tokens: 1e300 }],
    [completions, "max_completion_tokens", { max_tokens: 9, max_completion_tokens: "9000" }],
    [mistral, "max_tokens", { max_tokens: true }],
    [google, "generationConfig.maxOutputTokens", { generationConfig: { max_output_tokens: "9" } }],
    [google, "thinkingBudget", { generationConfig: { thinking_config: { thinking_budget: -2 } } }],
  ])("is rejected if it is ambiguous: $0.title $1", async (wire, field, more) => {
    const { reply, plan, sent } = await ask(wire, more, 2000);
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(new RegExp(`${field}.*(a whole number of tokens|another form)`));
    expect([plan, sent]).toEqual([undefined, undefined]);
  });
});

test.each([
  ["1h", true],
  ["5m", false],
])("a cache for %s in a nested part is planned as a long one: %s", async (ttl, longCache) => {
  const part = { type: "text", text: "x", cache_control: { type: "ephemeral", ttl } };
  const result = { type: "tool_result", tool_use_id: "1", content: [part] };
  const { plan } = await ask(anthropic, { messages: [{ role: "user", content: [result] }] });
  expect(plan).toMatchObject({ longCache });
});

describe("the gateway", () => {
  test("removes fallback models, unless the config allows them", async () => {
    const fallbacks = [{ model: "claude-dearest" }];
    expect((await ask(anthropic, { fallbacks })).sent).not.toHaveProperty("fallbacks");
    const allowed = await ask(anthropic, { fallbacks }, null, { providerTools: ["fallbacks"] });
    expect(allowed.sent).toMatchObject({ fallbacks });
  });

  test.each([true, 1, "true"])(
    "requests the usage of a stream of chat completions, if stream is %j",
    async (stream) => {
      const stream_options = { include_usage: false, include_obfuscation: false };
      const { sent } = await ask(completions, { stream, stream_options });
      expect(sent?.stream_options).toEqual({ ...stream_options, include_usage: true });
    },
  );

  test("requests no usage of documents, or of Mistral", async () => {
    expect((await ask(completions, {})).sent).not.toHaveProperty("stream_options");
    expect((await ask(mistral, { stream: true })).sent).not.toHaveProperty("stream_options");
  });

  test("names the service tier of OpenAI, whose own choice may cost twice as much", async () => {
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
