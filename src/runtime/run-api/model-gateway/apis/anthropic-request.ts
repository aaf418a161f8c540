import { textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { fieldNames, unversioned } from "../provider-side.ts";
import { either, json, list, many, object, one, orText } from "../request-shape.ts";
import type { Objects } from "../request-shape.ts";

/** Tools that the client runs, and the search among declared tools, which reads only the request. */
const clientTool =
  /^(custom|(bash|text_editor|computer|memory)_\d{8}|tool_search_tool_(regex|bm25)(_\d{8})?|tool_reference)$/;

function toolNames(tool: Json): readonly string[] {
  const type = textAt(tool, "type") ?? "custom";
  return clientTool.test(type) ? [] : [unversioned(type)];
}

const source = (content?: Objects) =>
  orText(
    object(
      { ...one("type media_type data url file_id"), ...(content && { content: orText(content) }) },
      (given) => [
        ...(given.type === "url" || (given.url ?? null) !== null ? ["url"] : []),
        ...(given.type === "file" || (given.file_id ?? null) !== null ? ["file"] : []),
      ],
    ),
  );

/** Results hold documents, which hold texts: each table contains that of its parts. */
function parts(depth: number): Objects {
  const inside = depth === 0 ? null : parts(depth - 1);
  return either(
    {
      ...one("type text id name tool_use_id toolset_name is_error thinking signature data title"),
      ...one("context file_id server_name tool_name encrypted_content error_code url page_age"),
      ...one("retrieved_at stdout stderr return_code encrypted_stdout file_type num_lines"),
      ...one("start_line total_lines is_file_update old_start old_lines new_start new_lines"),
      ...one("stop_reason"),
      ...many("lines"),
      ...json("input cache_control citations caller transformations from to trigger tabs"),
      ...json("state_changes tool_references"),
      tool: object(one("type name server_name mcp_server_name"), toolNames),
      source: source(inside ?? undefined),
      ...(inside && { content: orText(inside) }),
    },
    ({ type }) => (type === "container_upload" ? ["file"] : []),
  );
}

const content = orText(parts(3));

const tools = list(
  {
    ...one("type name description defer_loading eager_input_streaming strict max_uses model"),
    ...one("max_tokens max_characters max_content_tokens display_width_px display_height_px"),
    ...one("display_number enable_zoom mcp_server_name response_inclusion use_cache"),
    ...many("allowed_callers allowed_domains blocked_domains"),
    ...json("input_schema input_examples cache_control user_location citations caching configs"),
    ...json("default_config"),
  },
  toolNames,
);

/** Source: docs.anthropic.com, "Messages", with the betas of its SDK. */
export const anthropicRequest = object(
  {
    ...one("model max_tokens stream temperature top_k top_p service_tier inference_geo speed"),
    ...many("stop_sequences"),
    ...json("metadata tool_choice container output_format mcp_servers fallbacks diagnostics"),
    ...json("cache_control"),
    system: content,
    messages: list({ ...one("role clear_at"), output_config: object(one("effort")), content }),
    tools,
    thinking: object({ ...one("type budget_tokens display"), ...json("block_binding") }),
    output_config: object({ ...one("effort"), ...json("format task_budget") }),
    context_management: object({
      edits: list(
        {
          ...one("type instructions pause_after_compaction"),
          ...json("trigger keep clear_at_least clear_tool_inputs exclude_tools"),
        },
        // A compaction edit generates an additional answer with a separate limit.
        ({ type }) => (String(type).startsWith("compact") ? [unversioned(String(type))] : []),
      ),
    }),
  },
  (body) =>
    fieldNames(body, { mcp_servers: [], container: [], speed: ["standard"], inference_geo: [] }),
);
