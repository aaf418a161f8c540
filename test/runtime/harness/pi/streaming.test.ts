import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import type { Model } from "@earendil-works/pi-ai";
import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { fakeProvider } from "../fake-provider.ts";
import { aJob, aModel } from "../jobs.ts";
import { completions } from "./wires/completions.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

test("pi sees the first half of an answer before the provider sends the second", async () => {
  const seen = Promise.withResolvers<undefined>();
  const whole = completions.stream({ kind: "text", text: "Done." });
  const half = whole.indexOf("\n\n") + 2;
  const provider = await fakeProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(whole.slice(0, half));
    void seen.promise.then(() => response.end(whole.slice(half)));
  });
  onTestFinished(() => provider.close());
  const { models, channel } = aJob(tempDir(), { models: [aModel("first", provider.baseUrl)] });
  const [model] = models;
  if (model === undefined || channel === null) throw new Error("the job has no model");
  await using bridge = await openBridge(channel);
  const asked: Model<"openai-completions"> = {
    id: "first-1",
    name: "first",
    api: "openai-completions",
    provider: "custom",
    baseUrl: bridge.baseUrl(model, provider.baseUrl),
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 100_000,
    maxTokens: 1_000,
  };
  const stream = openAICompletionsApi().streamSimple(
    asked,
    { messages: [{ role: "user", content: "hi", timestamp: 0 }] } as never,
    { apiKey: bridge.key, headers: { "x-al-call": crypto.randomUUID() } },
  );
  for await (const event of stream) if (event.type === "text_delta") seen.resolve(undefined);
  expect(await stream.result()).toMatchObject({ stopReason: "stop" });
});
