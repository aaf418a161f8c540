import { createRunSockets } from "../../src/runtime/run-api/run-sockets.ts";
import { createModelGateway } from "../../src/runtime/run-api/model-gateway/model-gateway.ts";
import { noEgress } from "../runtime/run-api/no-egress.ts";
import { socketRecords } from "../runtime/run-api/support.ts";
import { answerMemory } from "./held-memory.ts";

/**
 * The scheduler's end of calls to models: the socket of one run, and the gateway with a meter that grants everything.
 * Arguments: the provider's address, a folder for the socket. Prints the socket's path and its token as JSON.
 */
const [origin = "", folder = ""] = process.argv.slice(2);
const models = createModelGateway({
  model: (_instanceId, name) =>
    Promise.resolve({
      name,
      provider: "custom",
      model: "bench",
      api: "openai-completions",
      baseUrl: `${origin}/v1`,
      authType: "api_key",
      key: "sk-the-key-of-the-benchmark",
      headers: {},
      script: null,
      providerTools: [],
      extraFields: [],
      timeoutSeconds: null,
    }),
  agentOf: () => "bench",
  isEnding: () => false,
  meter: {
    begin: () =>
      Promise.resolve({
        granted: true,
        maxOutputTokens: null,
        seen: () => undefined,
        settle: () => undefined,
      }),
  },
  answerScript: () => Promise.reject(new Error("no model of the benchmark is scripted")),
  onProblem: ({ error }) => process.stderr.write(`${error.message}\n`),
});
const sockets = createRunSockets({
  records: socketRecords(),
  redactor: { add: () => () => undefined },
  onProblem: (message) => process.stderr.write(`${message}\n`),
});
const runApi = { perform: () => Promise.reject(new Error("the benchmark calls models alone")) };
sockets.serve({ runApi, models, egress: noEgress });
const { path, token } = await sockets.open("bench", folder);
process.stdout.write(`${JSON.stringify({ socket: path, token })}\n`);
answerMemory();
