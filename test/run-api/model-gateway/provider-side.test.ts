import { describe, expect, it } from "vitest";
import { post, startGateway, startProvider } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

async function ask(wire: Wire, more: object, providerTools: readonly string[] = []) {
  const provider = await startProvider((_asked, response) => response.end("{}"));
  const baseUrl = provider.origin + wire.basePath;
  const { origin, meter } = await startGateway({
    model: { ...wire.model, baseUrl, providerTools },
  });
  const path = wire.plainPath ?? wire.path;
  const url = `${origin}/model/one/${provider.host}${wire.basePath}${path}`;
  const reply = await post(url, { ...wire.plainBody, ...more });
  return { reply, asked: provider.asked, plans: meter.plans };
}

const user = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
const item = (...content: readonly object[]) => ({ input: [{ role: "user", content }] });
const turn = (...parts: readonly object[]) => ({ contents: [{ role: "user", parts }] });
const png = "data:image/png;base64,iVBORw0KGgo=";
const site = "https://attacker.example/?secret=1";

const refused: readonly (readonly [Wire, string, object])[] = [
  [anthropic, "web_search", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  [anthropic, "web_fetch", { tools: [{ type: "web_fetch_20260318", name: "web_fetch" }] }],
  [anthropic, "code_execution", { tools: [{ type: "code_execution_20250825", name: "x" }] }],
  [anthropic, "mcp_toolset", { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }],
  [anthropic, "mcp_servers", { mcp_servers: [{ type: "url", url: site, name: "x" }] }],
  [anthropic, "container", { container: { skills: [] } }],
  [anthropic, "speed", { speed: "fast" }],
  [anthropic, "compact", { context_management: { edits: [{ type: "compact_20260112" }] } }],
  [anthropic, "url", user({ type: "image", source: { type: "url", url: site } })],
  [
    anthropic,
    "url",
    user({
      type: "tool_result",
      tool_use_id: "1",
      content: [{ type: "document", source: { type: "url", url: site } }],
    }),
  ],
  [anthropic, "file", user({ type: "document", source: { type: "file", file_id: "file_1" } })],
  [completions, "browser_search", { tools: [{ type: "browser_search" }] }],
  [completions, "web_search_options", { web_search_options: {} }],
  [completions, "search_parameters", { search_parameters: { mode: "on" } }],
  [completions, "plugins", { plugins: [{ id: "web" }] }],
  [completions, "models", { models: ["dear/model"] }],
  [completions, "n", { n: 5 }],
  [completions, "n", { n: "1" }],
  [completions, "prediction", { prediction: { type: "content", content: "long" } }],
  [completions, "deferred", { deferred: true }],
  [completions, "provider", { provider: { order: ["dearest"] } }],
  [completions, "preset", { preset: "mine" }],
  [completions, "url", user({ type: "image_url", image_url: `\u0001${site}` })],
  [completions, "url", user({ type: "image_url", image_url: "ht\ntps://attacker.example" })],
  [completions, "url", user({ type: "image_url", image_url: { url: "//attacker.example/x" } })],
  [completions, "service_tier", { service_tier: "priority" }],
  [completions, "url", user({ type: "image_url", image_url: { url: site } })],
  [completions, "url", user({ type: "file", file: { file_data: site } })],
  [completions, "file", user({ type: "file", file: { file_id: "file-1" } })],
  [responses, "web_search", { tools: [{ type: "web_search_2025_08_26" }] }],
  [responses, "web_search", { tools: [{ type: "web_search_preview_2025_03_11" }] }],
  [responses, "mcp", { tools: [{ type: "mcp", server_label: "x", server_url: site }] }],
  [responses, "code_interpreter", { tools: [{ type: "code_interpreter", container: {} }] }],
  [responses, "file_search", { tools: [{ type: "file_search", vector_store_ids: [] }] }],
  [responses, "image_generation", { tools: [{ type: "image_generation" }] }],
  [responses, "shell", { tools: [{ type: "shell", environment: { type: "container_auto" } }] }],
  [responses, "mcp", { tools: [{ type: "namespace", name: "x", tools: [{ type: "mcp" }] }] }],
  [responses, "mcp", { input: [{ type: "additional_tools", tools: [{ type: "mcp" }] }] }],
  [responses, "background", { background: true }],
  [responses, "previous_response_id", { previous_response_id: "resp_0" }],
  [responses, "prompt", { prompt: { id: "pmpt_1" } }],
  [responses, "item_reference", { input: [{ type: "item_reference", id: "msg_1" }] }],
  [responses, "url", item({ type: "input_image", image_url: site })],
  [responses, "url", item({ type: "input_file", file_url: site })],
  [
    responses,
    "url",
    {
      input: [
        {
          type: "function_call_output",
          call_id: "1",
          output: [{ type: "input_image", image_url: site }],
        },
      ],
    },
  ],
  [google, "google_search", { tools: [{ googleSearch: {} }] }],
  [google, "google_search", { tools: [{ google_search: {} }] }],
  [google, "url_context", { tools: [{ functionDeclarations: [], urlContext: {} }] }],
  [google, "code_execution", { tools: [{ codeExecution: {} }] }],
  [google, "url", turn({ fileData: { fileUri: site } })],
  [google, "url", turn({ file_data: { file_uri: site } })],
  [
    google,
    "url",
    turn({
      functionResponse: { name: "x", response: {}, parts: [{ fileData: { fileUri: site } }] },
    }),
  ],
  [google, "cachedContent", { cached_content: "cachedContents/1" }],
  [google, "candidateCount", { generationConfig: { candidate_count: 4 } }],
  [mistral, "web_search", { tools: [{ type: "web_search" }] }],
  [mistral, "url", user({ type: "image_url", image_url: site })],
  [mistral, "url", user({ type: "document_url", document_url: site })],
];

const passing: readonly (readonly [Wire, object])[] = [
  [
    anthropic,
    {
      tools: [
        { name: "read", input_schema: { type: "object", properties: { image_url: {} } } },
        { type: "custom", name: "write", input_schema: {} },
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "edit" },
        { type: "tool_search_tool_regex_20251119", name: "search" },
      ],
      ...user(
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
        },
        { type: "tool_use", id: "1", name: "x", input: { source: { type: "url", url: site } } },
        { type: "text", text: site },
      ),
    },
  ],
  [
    completions,
    {
      tools: [{ type: "function", function: { name: "read" } }],
      ...user(
        { type: "image_url", image_url: { url: png } },
        { type: "input_audio", input_audio: { data: "UklGRg+/_-==\n", format: "wav" } },
        { type: "text", text: site },
      ),
      ...{ n: 1, service_tier: "flex", plugins: [], web_search_options: null },
    },
  ],
  [
    responses,
    {
      tools: [
        { type: "function", name: "read" },
        { type: "custom", name: "patch" },
        { type: "local_shell" },
        { type: "shell", environment: { type: "local" } },
        { type: "namespace", name: "x", tools: [{ type: "function", name: "y" }] },
      ],
      ...item({ type: "input_image", image_url: png }),
      ...{ background: false, service_tier: "auto", previous_response_id: null },
    },
  ],
  [
    google,
    {
      tools: [{ functionDeclarations: [{ name: "read" }] }, { function_declarations: [] }],
      ...turn(
        { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } },
        { functionCall: { name: "x", args: { fileData: { fileUri: site } } } },
      ),
    },
  ],
  [mistral, { tools: [{ type: "function" }], ...user({ type: "image_url", image_url: png }) }],
];

const anthropicModel = { ...anthropic.model, baseUrl: "https://api.anthropic.com" };

describe("what a provider would do outside of the run", () => {
  it.each(refused)("is refused: %$", async (wire, name, more) => {
    const { reply, asked, plans } = await ask(wire, more);
    expect(reply.status).toBe(403);
    expect(reply.headers["x-should-retry"]).toBe("false");
    expect(reply.text).toContain(JSON.stringify(`"${name}"`).slice(1, -1));
    expect(reply.text).toContain("providerTools");
    expect(asked).toEqual([]);
    expect(plans).toEqual([]);
  });

  it.each(refused)("passes when the config names it: %$", async (wire, name, more) => {
    const { reply, asked } = await ask(wire, more, [name]);
    expect(reply.status).toBe(200);
    expect(asked).toHaveLength(1);
  });

  it.each(passing)("is no tool that the client runs, and no data: %$", async (wire, more) => {
    expect((await ask(wire, more)).reply.status).toBe(200);
  });

  it("is found however deep messages nest", async () => {
    const deep = JSON.stringify({ type: "image", source: { type: "url", url: site } });
    const messages = `${"[".repeat(50_000)}${deep}${"]".repeat(50_000)}`;
    const { origin, meter } = await startGateway({ model: anthropicModel });
    const url = `${origin}/model/one/api.anthropic.com/v1/messages`;
    const reply = await post(url, `{"messages":${messages}}`);
    expect(meter.plans).toEqual([]);
    expect(reply.status).toBe(403);
  });
});
