import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

const user = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
const item = (...content: readonly object[]) => ({ input: [{ role: "user", content }] });
const turn = (...parts: readonly object[]) => ({ contents: [{ role: "user", parts }] });
const png = "data:image/png;base64,iVBORw0KGgo=";
const site = "https://attacker.example/?secret=1";

/** What a provider would do beyond its answer, by the name that allows it. */
export const refused: readonly (readonly [Wire, string, object])[] = [
  [anthropic, "web_search", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  [anthropic, "web_fetch", { tools: [{ type: "web_fetch_20260318", name: "web_fetch" }] }],
  [anthropic, "code_execution", { tools: [{ type: "code_execution_20250825", name: "x" }] }],
  [anthropic, "mcp_toolset", { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }],
  [anthropic, "mcp_servers", { mcp_servers: [{ type: "url", url: site, name: "x" }] }],
  [anthropic, "container", { container: { skills: [] } }],
  [anthropic, "speed", { speed: "fast" }],
  [anthropic, "compact", { context_management: { edits: [{ type: "compact_20260112" }] } }],
  [anthropic, "url", user({ type: "image", source: { type: "url", url: site } })],
  [anthropic, "url", user({ type: "image", source: { url: site } })],
  [anthropic, "url", user({ type: "image", source: site })],
  [anthropic, "url", user({ type: "image", url: site })],
  [anthropic, "file", user({ type: "image", file_id: "file_1" })],
  [anthropic, "mcp_server_name", { tools: [{ name: "x", mcp_server_name: "x" }] }],
  [anthropic, "web_search", { tool_choice: { type: "web_search_20250305" } }],
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
  [completions, "url", { documents: [{ url: site }] }],
  [completions, "url", { documents: [{ source: { type: "url" } }] }],
  [completions, "container", { tools: [{ type: "function", container: { type: "auto" } }] }],
  [completions, "web_search", { tool_choice: "web_search" }],
  [completions, "web_search", { tool_choice: { type: "web_search_preview" } }],
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
  [responses, "server_url", { tools: [{ server_url: site }] }],
  [responses, "server_url", { tools: [{ type: null, server_url: site }] }],
  [responses, "headers", { tools: [{ type: "function", name: "x", headers: { a: "b" } }] }],
  [
    responses,
    "mcp",
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp" }] } },
  ],
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
  [responses, "item_reference", { input: [{ id: "msg_1" }] }],
  [responses, "item_reference", { input: [{ id: "msg_1", type: null }] }],
  [responses, "compaction", { context_management: [{ type: "compaction" }] }],
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
  [google, "url_context", { tools: { url_context: {} } }],
  [google, "url", { contents: { parts: { fileData: { fileUri: site } } } }],
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

/** Requests of pi and of the three LLM command lines, and what looks like more than it is. */
export const passing: readonly (readonly [Wire, object])[] = [
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
        { type: "search_result", source: site, title: "x", content: [{ type: "text", text: "" }] },
        { type: "tool_use", id: "1", name: "x", input: { source: { type: "url", url: site } } },
        { type: "text", text: site },
      ),
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
        { type: "custom", name: "patch" },
        { type: "local_shell" },
        { type: "shell", environment: { type: "local" } },
        { type: "namespace", name: "x", tools: [{ type: "function", name: "y" }] },
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function" }] },
      ...item({ type: "input_image", image_url: png }),
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
  [mistral, { tools: [{ type: "function" }], ...user({ type: "image_url", image_url: png }) }],
  [
    anthropic,
    {
      ...user({ type: "text", text: "hi", cache_control: { type: "ephemeral", ttl: "1h" } }),
      system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "read", description: "", input_schema: {}, defer_loading: true }],
      metadata: { user_id: "{}" },
      thinking: { type: "enabled", budget_tokens: 2000, display: "updates" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "high" },
      max_tokens: 32_000,
      temperature: 1,
      stream: true,
    },
  ],
  [
    responses,
    {
      input: [
        { type: "message", id: "m", role: "user", content: [{ type: "input_text", text: "hi" }] },
        { type: "reasoning", id: "r", summary: [], content: null, encrypted_content: "x" },
        { type: "function_call", name: "exec", arguments: "{}", call_id: "1" },
        { type: "function_call_output", call_id: "1", output: "done" },
        { type: "custom_tool_call", name: "apply_patch", input: "x", call_id: "2" },
        { type: "local_shell_call_output", id: "3", output: "done" },
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      store: false,
      stream: true,
      reasoning: { summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "1",
      client_metadata: { session_id: "1" },
      text: { verbosity: "low" },
    },
  ],
  [
    google,
    {
      ...turn({ text: "hi" }, { functionCall: { name: "x", args: {} }, thoughtSignature: "s" }),
      systemInstruction: { parts: [{ text: "S" }], role: "user" },
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        topK: 64,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
      },
    },
  ],
];
