import type { WireApi, EventReading } from "../wire-api.ts";
import { withServiceTier, openaiErrorBody } from "./service-tier.ts";
import { at, countAt, isObject, textAt, bytesOf, type Json } from "../../../wire/json.ts";
import { tokensAt } from "../request-body.ts";
import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { toolChoice, fieldNames, toolNames, openaiContentNames } from "../provider-side.ts";
import { either, json, list, many, object, one, orText, type Fields } from "../request-shape.ts";

/** The API refuses a lower limit. */
const minOutputTokens = 16;

const lastEvents = new Set(["response.completed", "response.incomplete", "response.failed"]);

/**
 * The last event of a stream has the response with its usage and the tier that served it; a plain answer is the response
 * itself. Input includes the cache, output includes thinking. Source: OpenAI's reference, "Streaming events".
 */
function readEvent(event: unknown): EventReading {
  const type = textAt(event, "type") ?? "";
  if (type.endsWith(".delta")) return { bytes: bytesOf(textAt(event, "delta")) };
  const isResponse = at(event, "object") === "response";
  if (!isResponse && !lastEvents.has(type)) return {};
  const response = isResponse ? event : at(event, "response");
  const usage = at(response, "usage");
  return { usage, isLast: isObject(usage), serviceTier: textAt(response, "service_tier") };
}

/** Servers that leave thinking out of `output_tokens` have it in `total_tokens`. */
function usageOf(usage: Json): CallUsage {
  const input = countAt(usage, "input_tokens") ?? 0;
  const cached = countAt(usage, "input_tokens_details", "cached_tokens") ?? 0;
  const written = countAt(usage, "input_tokens_details", "cache_write_tokens") ?? 0;
  const output = countAt(usage, "output_tokens") ?? 0;
  const cacheRead = Math.min(input, cached);
  const cacheWrite = Math.min(input - cacheRead, written);
  return {
    input: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: Math.max(output, (countAt(usage, "total_tokens") ?? 0) - input),
  };
}

/** Fields of tools that the client runs, besides those of all tools. */
const clientTools: Readonly<Record<string, string>> = {
  function: "parameters input_schema strict annotations",
  custom: "format",
  local_shell: "",
  apply_patch: "",
  computer: "",
  computer_use_preview: "display_width display_height environment",
  // This tool searches the tools declared in the request.
  tool_search: "parameters execution",
  // Tools of a namespace are counted by their own names.
  namespace: "tools",
  shell: "environment",
};

function namesOfTool(tool: Json): readonly string[] {
  const type = textAt(tool, "type") ?? "function";
  const isRemote = type === "shell" && at(tool, "environment", "type") !== "local";
  const isOwn = !isRemote && Object.hasOwn(clientTools, type);
  const fields = `type name description defer_loading ${clientTools[type] ?? ""}`;
  return toolNames(tool, type, isOwn ? fields : undefined);
}

const toolFields: Fields = {
  ...one("type name description strict defer_loading execution display_width display_height"),
  ...one("server_label server_url server_description connector_id authorization action model"),
  ...one("background input_fidelity moderation output_compression output_format partial_images"),
  ...one("quality size max_num_results search_context_size external_web_access"),
  ...many("vector_store_ids search_content_types"),
  ...json("parameters input_schema annotations format environment filters ranking_options"),
  ...json("user_location allowed_tools headers require_approval container input_image_mask"),
};
const tools = list({ ...toolFields, tools: list(toolFields, namesOfTool) }, namesOfTool);

const tool_choice = toolChoice((type) => Object.hasOwn(clientTools, type));

const partFields: Fields = {
  ...one("type text refusal detail image_url file_url file_data file_id filename"),
  ...one("encrypted_content stdout stderr"),
  ...json("annotations logprobs outcome input_audio"),
};
const parts = orText(either(partFields, openaiContentNames));

/** An item without a type is a message, or a reference to one that is stored at the provider. */
function itemNames(item: Json): readonly string[] {
  const type = item.type ?? ((item.content ?? null) === null ? "item_reference" : "message");
  return type === "item_reference" ? ["item_reference"] : [];
}

const input = list(
  {
    ...one(
      "type id role status phase call_id name namespace arguments encrypted_content execution",
    ),
    ...one("input code container_id max_output_length server_label approval_request_id approve"),
    ...one("reason result"),
    ...many("queries"),
    ...json("action actions operation environment results outputs error metadata"),
    ...json("acknowledged_safety_checks pending_safety_checks"),
    content: parts,
    output: parts,
    summary: list(one("type text")),
    tools,
  },
  itemNames,
);

/**
 * Background responses and state stored at OpenAI can be neither metered nor checked. Source: OpenAI's reference,
 * "Create a model response", and the items that codex sends.
 */
const responsesRequest = object(
  {
    ...one("model stream instructions max_output_tokens max_tool_calls temperature top_p store"),
    ...one("top_logprobs parallel_tool_calls truncation user safety_identifier prompt_cache_key"),
    ...one("prompt_cache_retention service_tier previous_response_id background"),
    ...many("include"),
    ...json("metadata client_metadata reasoning text prompt conversation"),
    ...json("prompt_cache_options search_parameters"),
    stream_options: object(one("include_obfuscation")),
    // A summary is an additional answer with a separate limit.
    context_management: list(one("type compact_threshold"), ({ type }) => [String(type)]),
    input: orText(input),
    tool_choice,
    tools,
  },
  (body) => [
    ...fieldNames(body, {
      background: [false],
      conversation: [],
      previous_response_id: [],
      prompt: [],
      search_parameters: [],
      service_tier: ["auto", "default", "flex"],
    }),
    ...tool_choice.names({ type: body.tool_choice }),
  ],
);

/** The Responses API. Source: OpenAI's reference, "Responses", "Streaming events". */
export const openaiResponses: WireApi = {
  route: (path) => (path === "/responses" ? { path, query: {}, isMetered: true } : null),
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  prepare: (body, model) => withServiceTier({ ...body, model: model.model }, model),
  limit: {
    read: (body) => tokensAt(body, 1, "max_output_tokens"),
    thinkingBudget: () => 0,
    write: (body, tokens) => ({ ...body, max_output_tokens: Math.max(tokens, minOutputTokens) }),
  },
  request: responsesRequest,
  errorBody: openaiErrorBody,
  readEvent,
  usageOf,
};
