import fc from "fast-check";
import { createAnswerReader } from "../../../../src/runtime/run-api/model-gateway/answer-tap.ts";
import { wireApis } from "../../../../src/runtime/run-api/model-gateway/wire-apis.ts";
import { emptyAnswer, post, sendInPieces, startWire } from "./support.ts";
import { completions } from "./wires/openai.ts";
import { wires } from "./wires/wires.ts";

test("the model gateway stores the cost of a long stream as it passes", async () => {
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: "x".repeat(996) } }] })}\n\n`;
  const { gateway, url } = await startWire(completions, (_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(event.repeat(201));
  });
  await post(url, completions.body);
  const { soFar } = gateway.meter;
  expect(soFar.length).toBeGreaterThan(1);
  for (const one of soFar) expect(one).toMatchObject({ status: 200, estimated: true });
  const outputs = [...soFar, await gateway.settled()].map(({ usage }) => usage?.output ?? 0);
  expect(outputs[0]).toBeGreaterThan(60_000 / 3);
  expect(outputs).toEqual(outputs.toSorted((a, b) => a - b));
});

test.each([
  [{ cost: 0.0021 }, 0.0021],
  [{ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } }, 0.5],
  [{ cost: 0.0021, is_byok: false, cost_details: { upstream_inference_cost: 0.002 } }, 0.0021],
  [{ cost: -1 }, 0],
  [{ cost: "free" }, null],
])("the model gateway reads a cost that a usage reports: %j", async (cost, usd) => {
  const { gateway, url, plainUrl } = await startWire(completions, ({ json }, response) => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, ...cost };
    const isStream = json.stream === true;
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    if (!isStream) return response.end(JSON.stringify({ ...completions.plain, usage }));
    const last = { choices: [{ delta: {}, finish_reason: "stop" }] };
    const events = [last, { choices: [], usage }].map((one) => `data: ${JSON.stringify(one)}\n\n`);
    return response.end(events.join(""));
  });
  for (const [index, [to, body]] of [
    [url, completions.body] as const,
    [plainUrl, completions.plainBody] as const,
  ].entries()) {
    await post(to, body);
    expect(await gateway.settled(index + 1)).toMatchObject({ usd, estimated: false });
  }
});

describe.each(wires)("$title", (wire) => {
  test.each([
    { newline: "\n", pieceBytes: 1 },
    { newline: "\r\n", pieceBytes: 1 },
    { newline: "\n", pieceBytes: 7 },
    { newline: "\r\n", pieceBytes: 13 },
    { newline: "\n", pieceBytes: 100_000 },
  ])(
    "the model gateway streams byte for byte and counts the tokens: $newline, $pieceBytes",
    async (cut) => {
      const sent = wire.stream(cut.newline);
      const { provider, gateway, url } = await startWire(wire, (_asked, response) => {
        response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
        return sendInPieces(response, sent, cut.pieceBytes);
      });
      const reply = await post(url, wire.body, { authorization: "Bearer placeholder" });
      expect(reply).toMatchObject({ status: 200, text: sent, isWhole: true });
      expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
      const { usage, serviceTier } = wire;
      expect(gateway.meter.ends).toMatchObject([
        { status: 200, usage, serviceTier, estimated: false },
      ]);
      expect(provider.asked).toHaveLength(1);
      expect(provider.asked[0]?.url).toBe(wire.basePath + wire.path);
      expect(provider.asked[0]?.json).toEqual(wire.body);
    },
  );

  test("the model gateway forwards a plain answer and counts the tokens", async () => {
    const { provider, gateway, plainUrl } = await startWire(wire, (_asked, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(wire.plain));
    });
    const reply = await post(plainUrl, wire.plainBody);
    expect(JSON.parse(reply.text)).toEqual(wire.plain);
    const { usage, serviceTier } = wire;
    expect(gateway.meter.ends).toMatchObject([
      { status: 200, usage, serviceTier, estimated: false },
    ]);
    expect(provider.asked[0]?.json).toEqual(wire.plainBody);
  });

  test("the model gateway estimates the usage of an interrupted stream and aborts the response", async () => {
    const sent = wire.stream("\n");
    const { gateway, url } = await startWire(wire, (_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const firstText = sent.indexOf("日本語");
      response.write(sent.slice(0, sent.indexOf("\n\n", firstText) + 10));
      setTimeout(() => response.destroy(), 50);
    });
    const reply = await post(url, wire.body);
    expect(reply).toMatchObject({ status: 200, isWhole: false });
    const end = await gateway.settled();
    expect(end).toMatchObject({ status: 200, estimated: true });
    expect(end.usage?.output).toBe(wire.outputWhenCut);
    const isInputKnown = /anthropic|google/.test(wire.title);
    const bytes = JSON.stringify(wire.body).length;
    expect(end.usage?.input).toBe(isInputKnown ? wire.usage.input : Math.ceil(bytes / 3));
    expect(gateway.problems).toHaveLength(1);
  });

  test("the model gateway adds the key, and forwards nothing of the client's own authentication", async () => {
    const { provider, url } = await startWire(wire, emptyAnswer);
    await post(
      `${url}${url.includes("?") ? "&" : "?"}key=placeholder&api_key=placeholder`,
      wire.body,
      {
        authorization: "Bearer placeholder",
        "x-api-key": "placeholder",
        "x-goog-api-key": "placeholder",
        "api-key": "placeholder",
        cookie: "a=placeholder",
        "al-run-token": "placeholder",
        "x-forwarded-for": "placeholder",
        "x-stainless-lang": "js",
        "anthropic-beta": "a,b",
      },
    );
    const [asked] = provider.asked;
    expect(JSON.stringify([asked?.url, asked?.headers])).not.toContain("placeholder");
    expect(asked?.headers[wire.key[0]]).toBe(wire.key[1]);
    expect(asked?.headers).toMatchObject({
      "x-stainless-lang": "js",
      "anthropic-beta": "a,b",
      "accept-encoding": "identity",
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

test.each(wires)("invalid token counts of a provider are rounded, and at least 0: $title", (wire) =>
  fc.assert(
    fc.property(numbers, (given) => {
      let at = 0;
      const reader = createAnswerReader(wireApis[wire.model.api ?? "openai-completions"]);
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

test("invalid token counts of a provider if negative for the cache, add nothing to the charged input", () => {
  const reader = createAnswerReader(wireApis["openai-completions"]);
  const prompt_tokens_details = { cached_tokens: -500_000 };
  reader.take({ usage: { prompt_tokens: 10, completion_tokens: -1e6, prompt_tokens_details } });
  expect(reader.read().usage).toMatchObject({ input: 10, cacheRead: 0, output: 0 });
});
