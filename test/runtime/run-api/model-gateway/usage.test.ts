import fc from "fast-check";
import { createAnswerReader } from "../../../../src/runtime/run-api/model-gateway/answer-tap.ts";
import { wireApis } from "../../../../src/runtime/run-api/model-gateway/wire-apis.ts";
import { dataEvents, emptyAnswer, post, sending, sendInPieces, startWire } from "./support.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";
import { wires } from "./wires/wires.ts";

test("the model gateway stores the cost so far during a long stream", async () => {
  const events = dataEvents([{ choices: [{ delta: { content: "x".repeat(996) } }] }]).repeat(201);
  const answer = sending(events, { "content-type": "text/event-stream" });
  const { gateway, url } = await startWire(completions, answer);
  await post(url, completions.body);
  const { soFar } = gateway.meter;
  expect(soFar.length).toBeGreaterThan(1);
  for (const one of soFar) expect(one).toMatchObject({ status: 200, estimated: true });
  const outputs = [...soFar, await gateway.settled()].map(({ usage }) => usage?.output ?? 0);
  expect(outputs[0]).toBeGreaterThan(60_000 / 3);
  expect(outputs).toEqual(outputs.toSorted((a, b) => a - b));
});

const readerOf = ({ model }: Wire) =>
  createAnswerReader(wireApis[model.api ?? "openai-completions"]);

test.each([
  [0.0021, { cost: 0.0021 }],
  [0.5, { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } }],
  [0.0021, { cost: 0.0021, is_byok: false, cost_details: { upstream_inference_cost: 0.002 } }],
  [0, { cost: -1 }],
  [null, { cost: "free" }],
])("the model gateway reads a cost of %s from the usage %j", (usd, cost) => {
  const reader = readerOf(completions);
  reader.take({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, ...cost } });
  expect(reader.read().usd).toBe(usd);
});

test.each(["stream", "document"])(
  "the model gateway passes on the cost that the provider reports in a %s",
  async (form) => {
    const cost = 0.000_014_625_3;
    const choices = [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }];
    const document = { choices, usage: { prompt_tokens: 9, completion_tokens: 3, cost } };
    const [type, text] =
      form === "stream"
        ? ["text/event-stream", dataEvents([document])]
        : ["application/json", JSON.stringify(document)];
    const { gateway, url } = await startWire(completions, sending(text, { "content-type": type }));
    await post(url, completions.body);
    expect(await gateway.settled()).toMatchObject({ usd: cost });
  },
);

describe.each(wires)("a model call ($title)", (wire) => {
  const { usage, serviceTier } = wire;
  const counted = [{ status: 200, usage, serviceTier, estimated: false }];

  test.each([
    ["\n", 1],
    ["\r\n", 7],
    ["\r\n", 100_000],
  ])(
    "is streamed unchanged and charged, with line ends %j in pieces of %i bytes",
    async (newline, bytes) => {
      const text = wire.stream(newline);
      const type = "text/event-stream; charset=utf-8";
      const { provider, gateway, url } = await startWire(wire, (_asked, response) => {
        response.writeHead(200, { "content-type": type });
        return sendInPieces(response, text, bytes);
      });
      const reply = await post(url, wire.body);
      expect(reply).toMatchObject({ status: 200, text, isWhole: true });
      expect(reply.headers["content-type"]).toBe(type);
      expect(gateway.meter.ends).toMatchObject(counted);
      expect(provider.asked).toMatchObject([{ url: wire.basePath + wire.path, json: wire.body }]);
    },
  );

  test("without a stream is answered and charged", async () => {
    const text = JSON.stringify(wire.plain);
    const answer = sending(text, { "content-type": "application/json" });
    const { provider, gateway, plainUrl } = await startWire(wire, answer);
    expect(await post(plainUrl, wire.plainBody)).toMatchObject({ status: 200, text });
    expect(gateway.meter.ends).toMatchObject(counted);
    expect(provider.asked[0]?.json).toEqual(wire.plainBody);
  });

  test("whose stream ends early has estimated tokens, and ends early for the client", async () => {
    const sent = wire.stream("\n");
    const firstText = sent.indexOf("日本語");
    const { gateway, url } = await startWire(wire, (_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const part = sent.slice(0, sent.indexOf("\n\n", firstText) + 10);
      response.write(part, () => response.destroy());
    });
    expect(await post(url, wire.body)).toMatchObject({ status: 200, isWhole: false });
    const end = await gateway.settled();
    expect(end).toMatchObject({ status: 200, estimated: true });
    const isInputKnown = /anthropic|google/.test(wire.title);
    const input = Math.ceil(JSON.stringify(wire.body).length / 3);
    expect(end.usage?.output).toBe(wire.outputWhenCut);
    expect(end.usage?.input).toBe(isInputKnown ? usage.input : input);
    expect(gateway.problems).toHaveLength(1);
  });

  test("sends the provider the API key, without the client's authentication, cookies, address or encoding", async () => {
    const { provider, url } = await startWire(wire, emptyAnswer);
    const passed = { "x-stainless-lang": "js", "anthropic-beta": "a,b" };
    const dropped =
      "authorization proxy-authorization x-api-key x-goog-api-key api-key cookie al-run-token forwarded x-forwarded-host host accept-encoding x-http-method-override te";
    const own = Object.fromEntries(dropped.split(" ").map((name) => [name, "placeholder"]));
    const query = `${url.includes("?") ? "&" : "?"}key=placeholder&api_key=placeholder`;
    await post(url + query, wire.body, { ...passed, ...own });
    const [asked] = provider.asked;
    expect(asked?.url).not.toContain("placeholder");
    expect(asked?.headers).toEqual({
      ...passed,
      [wire.key[0]]: wire.key[1],
      "content-type": "application/json",
      "content-length": String(asked?.text.length),
      "accept-encoding": "identity",
      host: provider.host,
      connection: "keep-alive",
    });
  });
});

/** The value with each number in the place of another. */
function withNumbers(value: unknown, next: () => number): unknown {
  if (typeof value === "number") return next();
  if (Array.isArray(value)) return value.map((item) => withNumbers(item, next));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withNumbers(inner, next)]),
  );
}

const numbers = fc.array(fc.oneof(fc.constantFrom(-500_000, 0.5, 1e300, 0), fc.double()), {
  minLength: 20,
  maxLength: 20,
});

test.each(wires)(
  "the model gateway rounds a provider's invalid token counts, to at least 0: $title",
  (wire) =>
    fc.assert(
      fc.property(numbers, (given) => {
        let at = 0;
        const reader = readerOf(wire);
        reader.take(withNumbers(wire.plain, () => given[at++ % given.length] ?? 0));
        const counts = Object.values(reader.read().usage ?? {});
        expect(counts.length).toBe(5);
        for (const count of counts) {
          expect(Number.isSafeInteger(count)).toBe(true);
          expect(count).toBeGreaterThanOrEqual(0);
          expect(count).toBeLessThanOrEqual(2e9);
        }
      }),
    ),
);

test.each([
  [responses, { input_tokens: 1000, output_tokens: 42, total_tokens: 1342 }],
  [completions, { prompt_tokens: 1000, completion_tokens: 42, total_tokens: 1342 }],
])("the model gateway adds separately counted thinking to the output: $title", (wire, usage) => {
  const reader = readerOf(wire);
  reader.take({ type: "response.completed", response: { usage }, usage });
  expect(reader.read().usage).toMatchObject({ input: 1000, output: 342 });
});

test("a negative count of cached tokens adds nothing to a model call's charged input", () => {
  const reader = readerOf(completions);
  const prompt_tokens_details = { cached_tokens: -500_000 };
  reader.take({ usage: { prompt_tokens: 10, completion_tokens: -1e6, prompt_tokens_details } });
  expect(reader.read().usage).toMatchObject({ input: 10, cacheRead: 0, output: 0 });
});
