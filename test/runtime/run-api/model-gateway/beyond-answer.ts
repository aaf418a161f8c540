import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

const user = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
const item = (...content: readonly object[]) => ({ input: [{ role: "user", content }] });
const turn = (...parts: readonly object[]) => ({ contents: [{ role: "user", parts }] });
const tools = (...tools: readonly object[]) => ({ tools });
const source = (given: unknown) => user({ type: "image", source: given });
const image = (image_url: unknown) => user({ type: "image_url", image_url });
const png = "data:image/png;base64,iVBORw0KGgo=";
const site = "https://attacker.example/?secret=1";
const remote = { source: { type: "url", url: site } };

type Refused = readonly [wire: Wire, name: string, request: object];

/** A row for each field, whose name allows it. */
const fields = (wire: Wire, values: object): readonly Refused[] =>
  Object.entries(values).map(([name, value]: [string, unknown]) => [wire, name, { [name]: value }]);

const all: readonly Refused[] = [
  ...fields(anthropic, { mcp_servers: [{ url: site }], container: { skills: [] }, speed: "fast" }),
  [anthropic, "web_search", tools({ type: "web_search_20250305", name: "web_search" })],
  [anthropic, "mcp_server_name", tools({ name: "x", mcp_server_name: "x" })],
  [anthropic, "web_search", { tool_choice: { type: "web_search_20250305" } }],
  [anthropic, "compact", { context_management: { edits: [{ type: "compact_20260112" }] } }],
  [anthropic, "url", source({ type: "url" })],
  [anthropic, "url", source({ url: site })],
  [anthropic, "url", source(site)],
  [anthropic, "url", user({ type: "image", url: site })],
  [anthropic, "url", user({ type: "tool_result", content: [{ type: "document", ...remote }] })],
  [anthropic, "file", user({ type: "image", file_id: "file_1" })],
  [anthropic, "file", source({ type: "file" })],
  ...fields(completions, {
    web_search_options: {},
    search_parameters: { mode: "on" },
    plugins: [{ id: "web" }],
    models: ["dear/model"],
    n: 5,
    prediction: { type: "content", content: "long" },
    deferred: true,
    provider: { order: ["dearest"] },
    preset: "mine",
    service_tier: "priority",
  }),
  [completions, "n", { n: "1" }],
  [completions, "container", tools({ type: "function", container: { type: "auto" } })],
  [completions, "browser_search", tools({ type: "browser_search" })],
  [completions, "web_search", { tool_choice: "web_search" }],
  [completions, "url", { documents: [{ url: site }] }],
  [completions, "url", { documents: [{ source: { type: "url" } }] }],
  [completions, "url", image(`\u0001${site}`)],
  [completions, "url", image({ url: "//attacker.example/x" })],
  [completions, "url", user({ type: "file", file: { file_data: site } })],
  [completions, "file", user({ type: "file", file: { file_id: "file-1" } })],
  ...fields(responses, {
    background: true,
    previous_response_id: "resp_0",
    prompt: { id: "pmpt_1" },
  }),
  [responses, "web_search", tools({ type: "web_search_2025_08_26" })],
  [responses, "web_search", tools({ type: "web_search_preview_2025_03_11" })],
  [responses, "mcp", tools({ type: "mcp", server_label: "x", server_url: site })],
  [responses, "server_url", tools({ server_url: site })],
  [responses, "shell", tools({ type: "shell", environment: { type: "container_auto" } })],
  [responses, "mcp", tools({ type: "namespace", name: "x", ...tools({ type: "mcp" }) })],
  [responses, "mcp", { tool_choice: { type: "allowed_tools", ...tools({ type: "mcp" }) } }],
  [responses, "mcp", { input: [{ type: "additional_tools", ...tools({ type: "mcp" }) }] }],
  [responses, "item_reference", { input: [{ type: "item_reference", id: "msg_1" }] }],
  [responses, "item_reference", { input: [{ id: "msg_1" }] }],
  [responses, "compaction", { context_management: [{ type: "compaction" }] }],
  [responses, "url", item({ type: "input_image", image_url: site })],
  [responses, "url", item({ type: "input_file", file_url: site })],
  [responses, "url", { input: [{ type: "function_call_output", output: [{ file_url: site }] }] }],
  [google, "google_search", tools({ google_search: {} })],
  [google, "url_context", tools({ functionDeclarations: [], urlContext: {} })],
  [google, "url", { contents: { parts: { fileData: { fileUri: site } } } }],
  [google, "url", turn({ file_data: { file_uri: site } })],
  [google, "url", turn({ functionResponse: { parts: [{ fileData: { fileUri: site } }] } })],
  [google, "cachedContent", { cached_content: "cachedContents/1" }],
  [google, "candidateCount", { generationConfig: { candidate_count: 4 } }],
  [mistral, "web_search", tools({ type: "web_search" })],
  [mistral, "url", user({ type: "document_url", document_url: site })],
];

/** Requests that make a provider act beyond its answer, by the name that allows it. */
export const refused = all.map(([wire, name, more]) => {
  return { title: `${wire.title}, ${name}`, wire, name, more };
});

/** Tools that the client runs, data, and fields without effect, which look like more. */
export const passing: readonly (readonly [Wire, object])[] = [
  [
    anthropic,
    {
      tools: [
        { name: "read", input_schema: { type: "object", properties: { image_url: {} } } },
        { type: "custom", name: "write" },
        { type: "bash_20250124", name: "bash" },
        { type: "tool_search_tool_regex_20251119", name: "search" },
      ],
      ...user(
        { type: "image", source: { type: "base64", data: "iVBORw0KGgo=" } },
        { type: "search_result", source: site, content: [{ type: "text", text: "" }] },
        { type: "tool_use", id: "1", name: "x", input: remote },
        { type: "text", text: site },
      ),
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    },
  ],
  [
    completions,
    {
      tools: [{ type: "function", function: { name: "read" } }],
      tool_choice: { type: "function", function: { name: "read" } },
      documents: [{ title: "web_search", text: site, source: { type: "text", text: site } }],
      ...user(
        { type: "image_url", image_url: { url: png } },
        { type: "input_audio", input_audio: { data: "UklGRg+/_-==\n", format: "wav" } },
        { type: "text", text: site },
      ),
      n: 1,
      service_tier: "flex",
      plugins: [],
      web_search_options: null,
    },
  ],
  [
    responses,
    {
      tools: [
        { type: "function", name: "read" },
        { type: "shell", environment: { type: "local" } },
        { type: "namespace", name: "x", tools: [{ type: "function", name: "y" }] },
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function" }] },
      input: [
        { role: "user", content: [{ type: "input_image", image_url: png }] },
        { type: "function_call_output", call_id: "1", output: "done" },
      ],
      background: false,
      service_tier: "auto",
      previous_response_id: null,
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
  [mistral, { tools: [{ type: "function" }], ...image(png) }],
];
