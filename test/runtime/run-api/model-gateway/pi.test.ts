import type { Api, Model } from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { describe, expect, it } from "vitest";
import { wires as clients } from "../../../../src/runtime/harness/pi/wires.ts";
import { startGateway, startProvider, testMeter } from "./support.ts";
import type { TestMeter } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** What pi's own client makes of an answer that comes through the gateway. */
async function ask(wire: Wire, meter: TestMeter) {
  const provider = await startProvider((_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(wire.stream("\n"));
  });
  const upstream = provider.origin + wire.basePath;
  const { origin } = await startGateway({ model: { ...wire.model, baseUrl: upstream }, meter });
  const api = wire.model.api ?? "openai-completions";
  const model: Model<Api> = {
    ...{ id: "model-1", name: "model-1", api, provider: wire.model.provider ?? "custom" },
    baseUrl: `${origin}/model/one/${provider.host}${wire.basePath}`,
    ...{ reasoning: false, input: ["text"], contextWindow: 100_000, maxTokens: 8_000 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  const messages = [{ role: "user" as const, content: "hi", timestamp: 0 }];
  const options = { apiKey: "placeholder", maxRetries: 0 };
  const stream = clients[api].streamSimple(model, normalizeContext({ messages }), options);
  return { answer: await stream.result(), asked: provider.asked };
}

describe("pi", () => {
  it.each([anthropic, responses, completions, mistral, google])(
    "asks $title through the gateway, and counts the same tokens",
    async (wire) => {
      const meter = testMeter();
      const { answer, asked } = await ask(wire, meter);
      expect(answer.errorMessage).toBeUndefined();
      expect(asked).toHaveLength(1);
      expect(asked[0]?.headers[wire.key[0]]).toBe(wire.key[1]);
      const usage = meter.ends[0]?.usage;
      expect(usage).toMatchObject({
        cacheRead: answer.usage.cacheRead,
        output: answer.usage.output,
      });
    },
  );

  it.each([anthropic, responses, completions, mistral, google])(
    "reads why $title was refused",
    async (wire) => {
      const detail = "the run's budget is spent";
      const meter = testMeter({ granted: false, code: "budget_exceeded", detail });
      const { answer, asked } = await ask(wire, meter);
      expect(answer.stopReason).toBe("error");
      expect(answer.errorMessage).toContain(detail);
      expect(asked).toEqual([]);
    },
  );
});
