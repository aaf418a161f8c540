import { createModelGateway } from "../../../../src/runtime/run-api/model-gateway/model-gateway.ts";
import { createRunSockets } from "../../../../src/runtime/run-api/run-sockets.ts";
import { answerMemory } from "../../../bench/held-memory.ts";
import { noEgress } from "../../../runtime/run-api/no-egress.ts";
import { socketRecords } from "../../../runtime/run-api/support.ts";

/**
 * The run sockets of a scheduler, and the gateway to models with a meter that grants everything. Arguments:
 * the provider's address, a folder for the sockets, how many runs. Prints the sockets as JSON.
 */
const [origin = "", folder = "", count = "1"] = process.argv.slice(2);
const grant = { granted: true, maxOutputTokens: null } as const;
const models = createModelGateway({
  model: (_instanceId, name) =>
    Promise.resolve({
      name,
      provider: "custom",
      model: name,
      api: "openai-completions",
      baseUrl: `${origin}/v1`,
      authType: "api_key",
      key: `sk-the-key-of-${name}`,
      headers: {},
      script: null,
      providerTools: [],
      extraFields: [],
      timeoutSeconds: null,
    }),
  agentOf: () => "dev",
  isEnding: () => false,
  meter: {
    begin: () => Promise.resolve({ ...grant, seen: () => undefined, settle: () => undefined }),
  },
  answerScript: () => Promise.reject(new Error("no model is scripted")),
  onCall: () => undefined,
  onProblem: () => undefined,
});
const sockets = createRunSockets({
  records: socketRecords(),
  redactor: { add: () => () => undefined },
  onProblem: (message) => process.stderr.write(`${message}\n`),
});
const runApi = { perform: () => new Promise<never>(() => undefined) };
sockets.serve({ runApi, models, egress: noEgress });
const opened = await Promise.all(
  Array.from({ length: Number(count) }, async (_none, index) => {
    const { path, token } = await sockets.open(`run-${index}`, folder);
    return { path, token };
  }),
);
process.stdout.write(`${JSON.stringify({ opened })}\n`);
answerMemory();
