import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { forwardCall } from "../../../../src/runtime/run-api/model-gateway/forward-call.ts";
import { gatewayLimits } from "../../../../src/runtime/run-api/model-gateway/limits.ts";
import { createReadOn } from "../../../../src/runtime/run-api/model-gateway/read-on.ts";
import { RequestBody } from "../../../../src/runtime/run-api/model-gateway/request-body.ts";
import { wireApis } from "../../../../src/runtime/run-api/model-gateway/wire-apis.ts";
import { emptyAnswer, post, startWire, testMeter, upstreamModel } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** Asks with these fields and a grant of so many tokens; resolves with what the meter and the provider got. */
async function ask(
  wire: Wire,
  more: object,
  granted: number | null,
  model: Partial<UpstreamModel> = {},
) {
  const meter = testMeter({ maxOutputTokens: granted });
  const { provider, plainUrl } = await startWire(wire, emptyAnswer, { model, meter });
  const body = { ...wire.plainBody, ...more };
  const reply = await post(plainUrl, body);
  return {
    reply,
    plan: meter.plans[0],
    sent: provider.asked[0]?.json,
    bytes: JSON.stringify(body).length,
  };
}

test.each([
  [anthropic, { max_tokens: 9000 }],
  [responses, { max_output_tokens: 9000 }],
  [completions, { max_completion_tokens: 9000 }],
  [completions, { max_tokens: 9000 }],
  [mistral, { max_tokens: 9000 }],
  [google, { generationConfig: { maxOutputTokens: 9000, temperature: 0 } }],
  [google, { generation_config: { max_output_tokens: 9000 } }],
])("the limit of an answer is read, and kept as requested", async (wire, more) => {
  const { plan, sent, bytes } = await ask(wire, more, null);
  expect(plan).toMatchObject({
    instanceId: "run-1",
    agent: "agent of run-1",
    model: "one",
    providerModel: "model-1",
    requestBytes: bytes,
    maxOutputTokens: 9000,
    minOutputTokens: 1024,
  });
  if (!("generation_config" in more)) expect(sent).toMatchObject(more);
});

test.each([
  [anthropic, { max_tokens: 9000 }, { max_tokens: 2000 }],
  [responses, {}, { max_output_tokens: 2000 }],
  [responses, { max_output_tokens: 9000 }, { max_output_tokens: 2000 }],
  [completions, {}, { max_tokens: 2000 }],
  [completions, { max_completion_tokens: 9000 }, { max_completion_tokens: 2000 }],
  [
    completions,
    { max_completion_tokens: 9000, max_tokens: 9001 },
    { max_completion_tokens: 2000, max_tokens: 2000 },
  ],
  [mistral, {}, { max_tokens: 2000 }],
  [google, {}, { generationConfig: { maxOutputTokens: 2000 } }],
  [
    google,
    { generation_config: { max_output_tokens: 9000, top_k: 3 } },
    { generationConfig: { maxOutputTokens: 2000, topK: 3 } },
  ],
])("the limit of an answer becomes the granted one", async (wire, more, expected) => {
  expect((await ask(wire, more, 2000)).sent).toEqual({ ...wire.plainBody, ...expected });
});

test.each(["openai", "groq"] as const)(
  "the limit of an answer has the new name for %s",
  async (provider) => {
    const { sent } = await ask(completions, {}, 2000, { provider });
    expect(sent).toMatchObject({ max_completion_tokens: 2000 });
    expect(sent).not.toHaveProperty("max_tokens");
  },
);

test("the limit of an answer stays above the minimum of the Responses API", async () =>
  expect((await ask(responses, {}, 3)).sent).toMatchObject({ max_output_tokens: 16 }));

test("the limit of an answer leaves room for the requested thinking", async () => {
  const thinking = { type: "enabled", budget_tokens: 16_000 };
  const first = await ask(anthropic, { max_tokens: 32_000, thinking }, null);
  expect(first.plan).toMatchObject({ maxOutputTokens: 32_000, minOutputTokens: 17_024 });
  const config = { thinkingConfig: { thinkingBudget: 500 } };
  const second = await ask(google, { generationConfig: config }, null);
  expect(second.plan).toMatchObject({ maxOutputTokens: null, minOutputTokens: 1524 });
  const dynamic = { thinkingConfig: { thinkingBudget: -1 } };
  const third = await ask(google, { generationConfig: dynamic }, null);
  expect(third.plan).toMatchObject({ minOutputTokens: 1024 });
});

test("the limit of an answer keeps Anthropic's thinking below it, or turns it off", async () => {
  const thinking = { type: "enabled", budget_tokens: 16_000, display: "summarized" };
  const ample = await ask(anthropic, { max_tokens: 32_000, thinking }, 20_000);
  expect(ample.sent).toMatchObject({ max_tokens: 20_000, thinking });
  const near = await ask(anthropic, { max_tokens: 32_000, thinking }, 5000);
  expect(near.sent).toMatchObject({
    max_tokens: 5000,
    thinking: { ...thinking, budget_tokens: 3976 },
  });
  const tiny = await ask(anthropic, { max_tokens: 32_000, thinking }, 1500);
  expect(tiny.sent).toMatchObject({ max_tokens: 1500, thinking: { type: "disabled" } });
});

test("the limit of an answer comes with whether the cache may be kept for an hour, which costs more", async () => {
  const part = (ttl: string) => ({
    type: "text",
    text: "x",
    cache_control: { type: "ephemeral", ttl },
  });
  const long = await ask(anthropic, { messages: [{ role: "user", content: [part("1h")] }] }, null);
  expect(long.plan).toMatchObject({ longCache: true });
  const result = { type: "tool_result", tool_use_id: "1", content: [part("1h")] };
  const nested = await ask(anthropic, { messages: [{ role: "user", content: [result] }] }, null);
  expect(nested.plan).toMatchObject({ longCache: true });
  const short = await ask(anthropic, { system: [part("5m")] }, null);
  expect(short.plan).toMatchObject({ longCache: false });
});

test("the limit of an answer has a minimum of at most the requested length", async () => {
  const { plan } = await ask(anthropic, { max_tokens: 1 }, null);
  expect(plan).toMatchObject({ maxOutputTokens: 1, minOutputTokens: 1 });
});

const thinking = { type: "enabled", budget_tokens: 0.5 };
test.each([
  [anthropic, "max_tokens", { max_tokens: "9000" }],
  [anthropic, "thinking.budget_tokens", { max_tokens: 9000, thinking }],
  [responses, "max_output_tokens", { max_output_tokens: -1 }],
  [responses, "max_output_tokens", { max_output_tokens: [9000] }],
  [completions, "max_tokens", { max_tokens: -1 }],
  [completions, "max_tokens", { max_tokens: 0 }],
  [completions, "max_completion_tokens", { max_tokens: 9, max_completion_tokens: "9000" }],
  [completions, "max_tokens", { max_tokens: 1.5 }],
  [completions, "max_tokens", { max_tokens: 1e300 }],
  [mistral, "max_tokens", { max_tokens: true }],
  [google, "generationConfig.maxOutputTokens", { generationConfig: { max_output_tokens: "9" } }],
  [google, "thinkingBudget", { generationConfig: { thinking_config: { thinking_budget: -2 } } }],
])("an ambiguous limit is rejected: %$", async (wire, field, more) => {
  const { reply, plan, sent } = await ask(wire, more, 2000);
  expect(reply.status).toBe(400);
  expect(reply.text).toMatch(new RegExp(`${field}.*(a whole number of tokens|another form)`));
  expect([plan, sent]).toEqual([undefined, undefined]);
});

test("other changes of a request set the model of the address", async () => {
  const { sent } = await ask(anthropic, { model: "claude-dearest" }, null);
  expect(sent).toMatchObject({ model: "model-1" });
});

test("other changes of a request remove fallback models, unless the config allows them", async () => {
  const fallbacks = [{ model: "claude-dearest" }];
  expect((await ask(anthropic, { fallbacks }, null)).sent).not.toHaveProperty("fallbacks");
  const allowed = await ask(anthropic, { fallbacks }, null, { providerTools: ["fallbacks"] });
  expect(allowed.sent).toMatchObject({ fallbacks });
});

test("other changes of a request request the usage of a stream of chat completions", async () => {
  const plain = await ask(completions, {}, null);
  expect(plain.sent).not.toHaveProperty("stream_options");
  const stream = await ask(completions, { stream: true }, null);
  expect(stream.sent).toMatchObject({ stream_options: { include_usage: true } });
  for (const taken of [1, "true"]) {
    const lenient = await ask(completions, { stream: taken }, null);
    expect(lenient.sent).toMatchObject({ stream_options: { include_usage: true } });
  }
  const options = { include_usage: false, include_obfuscation: false };
  const more = await ask(completions, { stream: true, stream_options: options }, null);
  expect(more.sent).toMatchObject({ stream_options: { ...options, include_usage: true } });
  expect((await ask(mistral, { stream: true }, null)).sent).not.toHaveProperty("stream_options");
});

test("other changes of a request name the service tier of OpenAI, whose own choice may cost twice as much", async () => {
  for (const service_tier of [undefined, null]) {
    for (const wire of [completions, responses]) {
      const { sent } = await ask(wire, { service_tier }, null, { provider: "openai" });
      expect(sent).toMatchObject({ service_tier: "default" });
    }
  }
  const other = await ask(completions, {}, null, { provider: "groq" });
  expect(other.sent).not.toHaveProperty("service_tier");
  const { sent, plan } = await ask(responses, { service_tier: "auto" }, null);
  expect([sent?.service_tier, plan?.serviceTier]).toEqual(["auto", "auto"]);
});

test("other changes of a request keep fields that the config allows", async () => {
  const more = {
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    new_one: [1],
  };
  const { sent } = await ask(anthropic, more, null, { extraFields: ["new_one"] });
  expect(sent).toMatchObject(more);
});

test("the limits of answers that are granted at once are set one in a turn of the event loop", async () => {
  let turns = 0;
  const counter = setInterval(() => (turns += 1));
  onTestFinished(() => clearInterval(counter));
  const written: number[] = [];
  const write = (): object => {
    written.push(turns);
    // A large body takes as long to parse.
    for (const end = performance.now() + 20; performance.now() < end;);
    return {};
  };
  const api = { ...wireApis["openai-completions"], limit: { write } };
  const url = new URL("http://127.0.0.1:1/");
  const { signal } = new AbortController();
  const plan = { requestBytes: 2 };
  const exchange = { signal, stopping: signal, request: { headers: {} } };
  const deps = {
    meter: testMeter({ maxOutputTokens: 2000 }),
    ask: () => Promise.reject(new Error("not asked")),
    openRequest: createReadOn(gatewayLimits),
  };
  const calls = Array.from({ length: 4 }, () => {
    const body = new RequestBody(Buffer.from("{}"), () => undefined);
    const call = { instanceId: "run-1", model: upstreamModel, api, url, body, isMetered: true };
    return forwardCall(call as never, plan as never, deps as never, exchange as never);
  });
  await Promise.allSettled(calls);
  expect(new Set(written).size).toBe(4);
});
