import type { Problem } from "../../../../foundation/errors.ts";
import type { UpstreamModel, CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import {
  at,
  objectAt,
  someObject,
  without,
  countAt,
  isObject,
  listAt,
  textAt,
  bytesOf,
} from "../../../wire/json.ts";
import { tokensAt } from "../request-body.ts";
import type { Json } from "../../../wire/json.ts";
import type { OutputLimit, WireApi, EventReading } from "../wire-api.ts";
import { toolChoice, fieldNames, isAddress, toolNames, unversioned } from "../provider-side.ts";
import { either, json, list, many, object, one, orText, type Objects } from "../request-shape.ts";

/** Tools that the client runs, and the search among declared tools, which reads only the request. */
const clientTool =
  /^(custom|(bash|text_editor|computer|memory)_\d{8}|tool_search_tool_(regex|bm25)(_\d{8})?|tool_reference)$/;

const clientFields =
  "type name description input_schema input_examples cache_control strict defer_loading eager_input_streaming " +
  "allowed_callers max_characters display_width_px display_height_px display_number enable_zoom";

function namesOfTool(tool: Json): readonly string[] {
  const type = textAt(tool, "type") ?? "custom";
  return toolNames(tool, type, clientTool.test(type) ? clientFields : undefined);
}

/** Parts that name where the provider found something. */
const found = new Set<unknown>(["search_result", "web_search_result", "web_fetch_result"]);

/** An address or a file in place of data: in a part itself, where some servers accept what belongs into `source`. */
function namesOfPart({ type, source, url, file_id }: Json): readonly string[] {
  const isOutput = typeof type === "string" && type.endsWith("_output");
  return [
    ...(!found.has(type) && [source, url].some(isAddress) ? ["url"] : []),
    ...(type === "container_upload" || (!isOutput && (file_id ?? null) !== null) ? ["file"] : []),
  ];
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
      tool: object(one("type name server_name mcp_server_name"), namesOfTool),
      source: source(inside ?? undefined),
      ...(inside && { content: orText(inside) }),
    },
    namesOfPart,
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
  namesOfTool,
);

const tool_choice = toolChoice((type) => clientTool.test(type));

/** Source: docs.anthropic.com, "Messages", with the betas of its SDK. */
const anthropicRequest = object(
  {
    ...one("model max_tokens stream temperature top_k top_p service_tier inference_geo speed"),
    ...many("stop_sequences"),
    ...json("metadata container output_format mcp_servers fallbacks diagnostics"),
    ...json("cache_control"),
    system: content,
    tool_choice,
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
  (body) => [
    ...fieldNames(body, { mcp_servers: [], container: [], speed: ["standard"], inference_geo: [] }),
    ...tool_choice.names({ type: body.tool_choice }),
  ],
);

/** The Messages API. Source: docs.anthropic.com, "Messages", "Count Message tokens", "Errors". */
export const anthropicMessages: WireApi = {
  cli: { obeysShouldRetry: true },
  route: (path, query) => {
    const isCount = path === "/v1/messages/count_tokens";
    if (!isCount && path !== "/v1/messages") return null;
    const beta = query.get("beta");
    return { path, query: beta === null ? {} : { beta }, isMetered: !isCount };
  },
  keyHeader: (key, authType) =>
    authType === "oauth_token" ? ["authorization", `Bearer ${key}`] : ["x-api-key", key],
  prepare,
  limit: limit(),
  writesLongCache,
  request: anthropicRequest,
  errorBody,
  readEvent,
  usageOf: totalOf,
};

/** Drops `fallbacks` unless allowed: it names other models, which may cost more. pi works without it. */
function prepare(body: Json, { model, providerTools }: UpstreamModel): Json {
  const kept = providerTools.includes("fallbacks") ? body : without(body, "fallbacks");
  return { ...kept, model };
}

/** Whether a part of the request asks for the 1-hour cache, which costs more (Anthropic, "Prompt caching"). */
function writesLongCache(body: Json): boolean {
  return someObject(body, (part) => at(part, "cache_control", "ttl") === "1h");
}

/** The API's minimum budget. Source: "Extended thinking". */
const minThinkingTokens = 1024;

function limit(): OutputLimit {
  const budget = (body: Json) =>
    at(body, "thinking", "type") === "enabled"
      ? tokensAt(body, 0, "thinking", "budget_tokens")
      : null;
  return {
    read: (body) => tokensAt(body, 0, "max_tokens"),
    thinkingBudget: (body) => budget(body) ?? 0,
    // The API rejects a budget that is not below the limit.
    write: (body, tokens) => {
      const limited = { ...body, max_tokens: tokens };
      if ((budget(body) ?? 0) < tokens) return limited;
      const most = tokens - minThinkingTokens;
      if (most < minThinkingTokens) return { ...limited, thinking: { type: "disabled" } };
      return { ...limited, thinking: { ...objectAt(body, "thinking"), budget_tokens: most } };
    },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  504: "timeout_error",
};

function errorBody({ status, code, message }: Problem): object {
  const type = errorTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message, code } };
}

/**
 * `message_start` has the input and `message_delta` the output so far, cumulative and without the fields that it leaves
 * as they are. A plain answer is one `message`. Input excludes the cache, output includes thinking. Source:
 * docs.anthropic.com, "Streaming Messages", "Prompt caching".
 */
function readEvent(event: unknown): EventReading {
  const type = textAt(event, "type");
  if (type === "content_block_delta") {
    const { text, thinking, partial_json } = objectAt(event, "delta");
    return { bytes: bytesOf(text, thinking, partial_json) };
  }
  const usage = type === "message_start" ? at(event, "message", "usage") : at(event, "usage");
  const isLast = type !== "message_start" && isObject(usage);
  return { usage, isLast, serviceTier: textAt(usage, "service_tier") };
}

/**
 * `iterations` lists the steps of an answer; the top-level fields omit some of them, so the larger count wins. Source:
 * "Compaction", "Understanding usage".
 */
function totalOf(usage: Json): CallUsage {
  const total = usageOf(usage);
  const steps = listAt(usage, "iterations").map(usageOf);
  const most = (field: keyof CallUsage) =>
    Math.max(
      total[field],
      steps.reduce((sum, step) => sum + step[field], 0),
    );
  return {
    input: most("input"),
    cacheRead: most("cacheRead"),
    cacheWrite: most("cacheWrite"),
    cacheWrite1h: most("cacheWrite1h"),
    output: most("output"),
  };
}

function usageOf(usage: unknown): CallUsage {
  return {
    input: countAt(usage, "input_tokens") ?? 0,
    cacheRead: countAt(usage, "cache_read_input_tokens") ?? 0,
    cacheWrite: countAt(usage, "cache_creation_input_tokens") ?? 0,
    cacheWrite1h: countAt(usage, "cache_creation", "ephemeral_1h_input_tokens") ?? 0,
    output: countAt(usage, "output_tokens") ?? 0,
  };
}
