import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Meter } from "../../src/contracts/model-gateway.ts";
import { createModelGateway } from "../../src/run-api/model-gateway/model-gateway.ts";

/** The model gateway alone, with a meter that grants everything. Argument: the provider's address. Prints its port. */
const [origin = ""] = process.argv.slice(2);
const meter: Meter = {
  begin: () => Promise.resolve({ granted: true, maxOutputTokens: null, settle: () => undefined }),
};
const gateway = createModelGateway({
  model: (_instanceId, name) =>
    Promise.resolve({
      name,
      provider: "custom",
      model: "bench",
      api: "openai-completions",
      baseUrl: `${origin}/v1`,
      authType: "api_key",
      key: "key",
      headers: {},
      script: null,
      providerTools: [],
    }),
  agentOf: () => "bench",
  meter,
  answerScript: () => Promise.reject(new Error("no model of the benchmark is scripted")),
  onProblem: ({ error }) => process.stderr.write(`${error.message}\n`),
});
const server = createServer((request, response) => void gateway.handle("bench", request, response));
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// Its memory, for each line on standard input.
process.stdin.on("data", () => process.stdout.write(`${process.memoryUsage().rss}\n`));
