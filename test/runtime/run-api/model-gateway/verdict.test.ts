import { noFacts } from "../../../../src/runtime/run-api/model-gateway/answer-facts.ts";
import type { AnswerFacts } from "../../../../src/runtime/run-api/model-gateway/answer-facts.ts";
import { newCall } from "../../../../src/runtime/run-api/model-gateway/answer-tap.ts";
import type { SeenOfCall } from "../../../../src/runtime/run-api/model-gateway/answer-tap.ts";
import { GatewayProblem } from "../../../../src/runtime/run-api/model-gateway/gateway-problem.ts";
import { verdictOn } from "../../../../src/runtime/run-api/model-gateway/verdict.ts";
import type { ModelFailure } from "../../../../src/runtime/wire/protocol.ts";
import { pause } from "../../../helpers/pause.ts";
import { beginStream, post, sending, startWire, testMeter } from "./support.ts";
import type { Answer, TestGatewayOptions } from "./support.ts";
import { completions } from "./wires/openai.ts";

const seen = (part: Partial<SeenOfCall>) => ({ ...newCall(), status: 200, ...part });
const facts = (part: Partial<AnswerFacts>) => seen({ facts: { ...noFacts, ...part } });
const ended = (stop: string) => facts({ stop });
const failed = (code: string | null, message = "x") => facts({ error: { code, message } });
const refused = (status: number, headers: Record<string, string> = {}, text = "no") =>
  seen({ status, refused: { headers, text } });
const broken = (stop: string) => {
  const problem = new GatewayProblem("upstream_broke_off", "it broke");
  return seen({ problem, isBegun: true, facts: { ...noFacts, stop } });
};

const table: readonly (readonly [string, SeenOfCall, Partial<ModelFailure> | null])[] = [
  ["an ordinary end: none", ended("end_turn"), null],
  ["an answer cut at its limit: none", ended("max_output_tokens"), null],
  [
    "a refusal: fall back, with its text",
    facts({ refusal: "Not this.", stop: "refusal" }),
    { kind: "fallback", message: "the model refused: Not this." },
  ],
  [
    "a refusal without a text: fall back",
    ended("refusal"),
    { kind: "fallback", message: "the model refused to answer" },
  ],
  ["Gemini's recitation: fall back", ended("RECITATION"), { kind: "fallback" }],
  [
    "a full context window: fall back",
    ended("model_context_window_exceeded"),
    { kind: "fallback" },
  ],
  ["an upstream's network error: retry", ended("network_error"), { kind: "retry" }],
  ["429 without a quota: fall back", refused(429, {}, "insufficient_quota"), { kind: "fallback" }],
  [
    "429 with a quota and a time: retry",
    refused(429, {}, "quota exceeded, retry in 35s"),
    { kind: "retry" },
  ],
  [
    "429 for long: a cooldown of an hour",
    refused(429, { "retry-after": "9999" }),
    { cooldownMs: 3_600_000 },
  ],
  ["404: fall back", refused(404), { kind: "fallback", message: "404 no" }],
  [
    "503 with x-should-retry false: fall back",
    refused(503, { "x-should-retry": "false" }),
    { kind: "fallback", cooldownMs: 60_000 },
  ],
  [
    "an overload in a stream: retry after the time of its text",
    failed("overloaded_error", "try again in 5s"),
    { kind: "retry", retryAfterMs: 5_000 },
  ],
  [
    "a connection that was closed behind a proxy: retry",
    failed(null, "Connection closed."),
    { kind: "retry" },
  ],
  ["the code of a reset socket: retry", failed("ECONNRESET", "ECONNRESET"), { kind: "retry" }],
  ["the error 502 in a stream: retry", failed("502"), { kind: "retry" }],
  ["a wrong key in a stream: fall back", failed("authentication_error"), { kind: "fallback" }],
  ["a stream that broke off after its last event: none", broken("stop"), null],
  ["a stream that broke off before its last event: retry", broken("queued"), { kind: "retry" }],
];

test.each(table)("the gateway's verdict on %s", (_name, call, failure) => {
  const verdict = verdictOn(call).failure;
  if (failure === null) expect(verdict).toBeNull();
  else expect(verdict).toMatchObject(failure);
});

/** The failure of a call to a provider that answers so. */
async function failureAt(
  answer: Answer,
  options: TestGatewayOptions = {},
  headers: Record<string, string> = {},
) {
  const { gateway, url } = await startWire(completions, answer, options);
  const reply = await post(url, completions.body, { "x-al-call": "one", ...headers }).catch(
    () => null,
  );
  return { reply, gateway, failure: gateway.verdictOn("one")?.failure };
}

test.each<[string, Answer]>([
  ["before the first byte", () => undefined],
  ["in the middle", (_asked, response) => beginStream(response, "data: {}\n\n")],
])(
  "a provider that is silent %s is given up after the client's limit, and read on",
  async (_when, answer) => {
    const { failure, gateway, reply } = await failureAt(answer, {}, { "x-al-silence-ms": "50" });
    expect(failure).toMatchObject({
      kind: "retry",
      isSlow: true,
      message: "no data arrived for 0.1 s",
    });
    expect(reply?.isWhole ?? false).toBe(false);
    expect(gateway.meter.ends).toEqual([]);
  },
);

test("the time until a call is granted is not a provider's silence", async () => {
  const granting = testMeter();
  let waited: unknown;
  const begin: typeof granting.begin = async (...call) => {
    await pause(300, "the call waits for longer than its provider may be silent");
    waited = gateway.verdictOn("one");
    return granting.begin(...call);
  };
  const meter = { ...granting, begin };
  const { gateway, url } = await startWire(completions, sending("{}"), { meter });
  const headers = { "x-al-call": "one", "x-al-silence-ms": "200" };
  await post(url, completions.body, headers).catch(() => undefined);
  expect(waited).toEqual({ failure: null });
});

test("an endless answer is cut at the gateway's limit, and its provider's connection closed", async () => {
  const closed = Promise.withResolvers<undefined>();
  const endless: Answer = (_asked, response) => {
    response.once("close", () => closed.resolve(undefined));
    beginStream(response, "");
    const more = (): void => {
      while (!response.destroyed && response.write(`: ${"x".repeat(10_000)}\n\n`));
    };
    response.on("drain", more);
    more();
  };
  const { failure, reply } = await failureAt(endless, { answerBytes: 1024 * 1024 });
  expect(failure).toEqual({ kind: "fallback", message: "the answer was longer than 1 MiB" });
  expect(reply).toMatchObject({ status: 200, isWhole: false });
  await closed.promise;
});

test("the gateway has no verdict on a call that it does not know, or when it stops", async () => {
  const { gateway } = await failureAt(sending("{}"));
  expect(gateway.verdictOn("another")).toBeNull();
  await gateway.gateway.close();
  expect(gateway.verdictOn("one")).toBeNull();
});
