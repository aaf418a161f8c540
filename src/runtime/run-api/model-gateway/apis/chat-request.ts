import { at, textAt } from "../../../wire/json.ts";
import {
  toolChoice,
  fieldNames,
  isAddress,
  toolNames,
  openaiContentNames,
} from "../provider-side.ts";
import { json, list, many, object, one, orText, type Objects } from "../request-shape.ts";

const address = orText(object(one("url detail format")));

const content = orText(
  list(
    {
      ...one("type text refusal document_name file_id signature closed"),
      ...many("reference_ids"),
      ...json("cache_control"),
      image_url: address,
      video_url: address,
      audio_url: address,
      document_url: address,
      file_url: address,
      input_audio: orText(object(one("data format url"))),
      file: object(one("filename file_data file_id")),
      thinking: orText(list(one("type text"))),
    },
    openaiContentNames,
  ),
);

/**
 * `models`, `route`, `preset`, `provider` and `plugins` are OpenRouter's other models, servers with other prices, and
 * tools; `search_parameters` is xAI's search, `compound_custom` Groq's tools. More than one answer (`n`) and rejected
 * tokens of a `prediction` exceed the limit; audio has a price of its own, and a `deferred` answer is fetched later.
 */
const harmless = {
  web_search_options: [],
  search_parameters: [],
  search_settings: [],
  compound_custom: [],
  plugins: [],
  models: [],
  route: [],
  preset: [],
  provider: [],
  prediction: [],
  deferred: [false],
  audio: [],
  n: [1],
  service_tier: ["auto", "default", "flex", "on_demand", "standard"],
};

const clientFields = "type function custom cache_control";

/** Data that the model may quote; some servers would fetch the address of one. */
const documents = list(
  {
    ...one("id title text url"),
    ...json("data"),
    source: orText(object({ ...one("type text"), ...json("json") })),
  },
  ({ url, source }) => {
    const type = at(source, "type") ?? "text";
    const isData = type === "text" || type === "json";
    return isData && ![url, source].some(isAddress) ? [] : ["url"];
  },
);

/**
 * Chat completions; `clientTools` are the types of tools that the client runs. Sources: the references of OpenAI, Groq,
 * xAI, OpenRouter, Mistral and DeepSeek, and the fields that enable thinking in vLLM and other servers.
 */
export function chatRequest(clientTools: readonly string[]): Objects {
  const tools = list(
    {
      ...one("type"),
      ...json("custom cache_control container parameters"),
      function: object({ ...one("name description strict"), ...json("parameters") }),
    },
    (tool) => {
      const type = textAt(tool, "type") ?? "function";
      return toolNames(tool, type, clientTools.includes(type) ? clientFields : undefined);
    },
  );
  const tool_choice = toolChoice((type) => clientTools.includes(type));
  return object(
    {
      ...one("model stream temperature top_p top_k top_a min_p frequency_penalty n seed"),
      ...one("presence_penalty repetition_penalty random_seed max_tokens max_completion_tokens"),
      ...one("logprobs top_logprobs parallel_tool_calls reasoning_effort reasoning_format"),
      ...one("include_reasoning verbosity user safety_identifier prompt_cache_key store"),
      ...one("prompt_cache_retention service_tier enable_thinking tool_stream prompt_mode"),
      ...one("safe_prompt session_id route preset deferred disable_tool_validation"),
      ...one("citation_options"),
      ...many("stop modalities transforms"),
      ...json("response_format function_call functions logit_bias metadata reasoning"),
      ...json("thinking chat_template_kwargs chat_template_args prompt_cache_options usage"),
      ...json("cache_control prediction audio web_search_options search_parameters"),
      ...json("search_settings compound_custom plugins models provider"),
      stream_options: object(one("include_usage include_obfuscation")),
      messages: list({
        ...one("role name tool_call_id refusal prefix"),
        ...one("reasoning_content reasoning reasoning_text"),
        ...json("audio annotations reasoning_details function_call cache_control"),
        content,
        tool_calls: list({ ...one("id type index"), ...json("function custom") }),
        tools,
      }),
      tools,
      tool_choice,
      documents,
    },
    (body) => [...fieldNames(body, harmless), ...tool_choice.names({ type: body.tool_choice })],
  );
}
