import type { JobModel } from "../../../../src/foundation/contracts/job.ts";
import { fakeProvider, refusing } from "../fake-provider.ts";
import { aJob, aModel } from "../jobs.ts";
import type { HostedModel } from "../model-host.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const object = { type: "object" };
const node = { ...object, properties: { next: { $ref: "#/$defs/Node" } } };
const schemas: Readonly<Record<string, object>> = {
  references: {
    ...object,
    $defs: { Node: node },
    properties: { all: { type: "array", items: { $ref: "#/$defs/Node" } } },
    required: ["all"],
    additionalProperties: false,
  },
  untyped: {},
  bare: object,
  "null-properties": { ...object, properties: null },
  arrays: {
    ...object,
    properties: {
      a: { type: "array" },
      b: { type: ["array", "null"] },
      c: { type: "array", items: true },
      d: true,
    },
  },
  values: {
    ...object,
    properties: {
      a: { type: "array", items: {} },
      b: { const: "x" },
      c: { type: ["string", "null"], default: { type: "array" } },
      d: { type: "string", format: "uri" },
    },
  },
  names: JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"},"default":{"type":"array"}}}',
  ) as object,
};

const models: readonly (readonly [JobModel["provider"], string])[] = [
  ["anthropic", "claude-sonnet-4-5"],
  ["openai", "gpt-5.5"],
  ["google", "gemini-2.5-pro"],
  ["groq", "qwen/qwen3-32b"],
  ["xai", "grok-4.3"],
  ["mistral", "mistral-small-2506"],
  ["openrouter", "anthropic/claude-opus-5"],
  ["openrouter", "openai/gpt-5.5"],
  ["custom", "llama"],
];

/** Why OpenAI would refuse the schema, and with it the request. */
function problemsOf(value: unknown, key = ""): string[] {
  if (typeof value !== "object" || value === null || key === "default") return [];
  const { type, properties = 0, items } = value as Readonly<Record<string, unknown>>;
  const types = [type].flat();
  return [
    ...(types.includes("object") && typeof properties !== "object" ? ["no properties"] : []),
    ...(types.includes("array") && typeof items !== "object" ? ["no items"] : []),
    ...Object.entries(value).flatMap(([name, part]) =>
      problemsOf(part, key === "properties" ? "" : name),
    ),
  ];
}

test("each provider gets the schemas of MCP tools in a form that it takes, and qwen at groq the role system", async () => {
  const upstream = await fakeProvider(refusing(400, "not today"));
  onTestFinished(() => upstream.close());
  const { origin } = new URL(upstream.baseUrl);
  const chain = models.map(([provider, model], at) =>
    aModel(`m${at}`, `${origin}/${at}`, { provider, model, thinkingLevel: "medium" }),
  );
  await session(chain, Object.keys(schemas));
  expect(upstream.requests).toHaveLength(models.length);
  for (const [at, { body }] of upstream.requests.entries()) {
    const [provider] = models[at] ?? [];
    const own = declared(body).filter(({ name }) => name.startsWith("hub__"));
    expect(JSON.stringify(own[0])).toMatch(/"\$defs":\{"Node":/);
    const problems = own.flatMap((one) => problemsOf(one).map((why) => [one.name, why]));
    expect([provider, own.length, problems]).toEqual([provider, 7, []]);
    if (provider === "google") expect(JSON.stringify(own)).not.toContain('"const":');
    if (provider === "groq")
      expect(body.messages?.map(({ role }) => role)).toEqual(["system", "user"]);
  }
});

test.each<[JobModel["provider"], (at: number) => string]>([
  ["openai", () => "Invalid schema for function 'hub__bad': In context=(), too deep."],
  ["anthropic", (at) => `tools.${at}.custom.input_schema: JSON schema is invalid.`],
  ["google", (at) => `GenerateContentRequest.tools[0].function_declarations[${at}].parameters: no`],
  ["groq", (at) => `invalid JSON schema for tool hub__bad, tools[${at}].function.parameters`],
])("an MCP tool whose schema %s refuses is left out with a warning", async (provider, why) => {
  const upstream = await fakeProvider(({ body }, response) => {
    const names = declared(body).map(({ name }) => name);
    const at = names.indexOf("hub__bad");
    const [status, message] = at === -1 ? [401, "seen"] : [400, why(at)];
    const error = { message, code: status, status: "INVALID_ARGUMENT" };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error }));
  });
  onTestFinished(() => upstream.close());
  const [, model = ""] = models.find(([of]) => of === provider) ?? [];
  const baseUrl = new URL(upstream.baseUrl).origin;
  const ended = await session([aModel("m", baseUrl, { provider, model })], ["good", "bad", "more"]);
  expect(ended.log).toMatch(/model "m": 400 .*; the tool hub__bad is left out/);
  expect(upstream.requests).toHaveLength(2);
  const [first = [], second = []] = upstream.requests.map(({ body }) => declared(body));
  expect(second).toHaveLength(first.length - 1);
});

/** A session of these models with these tools of an MCP server. */
function session(chain: readonly HostedModel[], names: readonly string[]) {
  const workDir = tempDir();
  const tools = names.map((name) => ({
    name,
    description: name,
    inputSchema: schemas[name] ?? {},
  }));
  const mcp = [{ name: "hub", command: null, tools: ["*"], timeoutSeconds: 60 }];
  return runSession({
    workDir,
    job: { ...aJob(workDir, { models: chain }), mcp },
    requests: { perform: () => Promise.resolve({ ok: true, tools, problem: null, servers: [] }) },
  });
}

interface Declaration {
  readonly name: string;
  readonly function?: Declaration;
  readonly functionDeclarations?: readonly Declaration[];
}

const declared = (body: object) =>
  (body as { tools: readonly Declaration[] }).tools.flatMap(
    (one) => one.functionDeclarations ?? [one.function ?? one],
  );
