import { createAnswerReader } from "../../../../src/runtime/run-api/model-gateway/answer-tap.ts";
import { wireApis } from "../../../../src/runtime/run-api/model-gateway/wire-apis.ts";

test.each([
  ["openai-responses", { input_tokens: 1000, output_tokens: 42, total_tokens: 1342 }],
  ["openai-completions", { prompt_tokens: 1000, completion_tokens: 42, total_tokens: 1342 }],
] as const)("thinking that a server counts beside its output is output in %s", (api, usage) => {
  const reader = createAnswerReader(wireApis[api]);
  reader.take({ type: "response.completed", response: { usage }, usage });
  expect(reader.read().usage).toMatchObject({ input: 1000, output: 342 });
});
