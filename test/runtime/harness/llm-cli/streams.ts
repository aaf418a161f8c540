/** What the CLIs print, taken from real sessions against an endpoint on the same machine. */

export const claudeStream = [
  { type: "system", subtype: "init", model: "claude-sonnet-4-5", tools: ["Bash"] },
  { type: "assistant", message: { content: [{ type: "text", text: "Looking." }] } },
  {
    type: "assistant",
    message: {
      content: [{ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "exit 3" } }],
    },
  },
  {
    type: "user",
    message: {
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "Exit code 3", is_error: true },
      ],
    },
  },
  { type: "assistant", message: { content: [{ type: "text", text: "Done." }] } },
  {
    type: "result",
    subtype: "success",
    is_error: false,
    api_error_status: null,
    num_turns: 2,
    result: "Done.",
    total_cost_usd: 0.0012,
    usage: {
      input_tokens: 200,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 10,
      output_tokens: 40,
      server_tool_use: { web_search_requests: 0 },
    },
  },
] as const;

/** `subtype` is "success" here too. */
export function claudeFailure(status: number, text: string) {
  return {
    type: "result",
    subtype: "success",
    is_error: true,
    api_error_status: status,
    num_turns: 1,
    result: text,
    total_cost_usd: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

const shell = { id: "item_2", type: "command_execution", command: "/bin/bash -lc 'exit 3'" };

export const codexStream = [
  { type: "thread.started", thread_id: "01a1" },
  { type: "item.completed", item: { id: "item_0", type: "error", message: "Metadata not found." } },
  { type: "turn.started" },
  { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "Looking." } },
  {
    type: "item.started",
    item: { ...shell, aggregated_output: "", exit_code: null, status: "in_progress" },
  },
  {
    type: "item.completed",
    item: { ...shell, aggregated_output: "hi\n", exit_code: 3, status: "failed" },
  },
  {
    type: "item.completed",
    item: {
      id: "item_3",
      type: "file_change",
      changes: [{ path: "/w/notes.md", kind: "add" }],
      status: "completed",
    },
  },
  { type: "item.completed", item: { id: "item_4", type: "agent_message", text: "Done." } },
  {
    type: "turn.completed",
    usage: { input_tokens: 200, cached_input_tokens: 20, output_tokens: 40 },
  },
] as const;

export function codexFailure(message: string) {
  return [
    { type: "thread.started", thread_id: "01a1" },
    { type: "turn.started" },
    { type: "error", message },
    { type: "turn.failed", error: { message } },
  ];
}

const piece = (content: string) => ({ type: "message", role: "assistant", content, delta: true });

export const geminiStream = [
  { type: "init", session_id: "2926", model: "gemini-2.5-pro" },
  { type: "message", role: "user", content: "Do it." },
  piece("Look"),
  piece("ing."),
  {
    type: "tool_use",
    tool_name: "run_shell_command",
    tool_id: "run_1",
    parameters: { command: "exit 3" },
  },
  { type: "tool_result", tool_id: "run_1", status: "error", output: "hi" },
  piece("Done."),
  {
    type: "result",
    status: "success",
    stats: { total_tokens: 240, input_tokens: 200, output_tokens: 40, tool_calls: 1 },
  },
] as const;

export function geminiFailure(status: number, message: string) {
  const body = JSON.stringify({ error: { code: status, message, status: "X" } });
  return {
    type: "result",
    status: "error",
    error: { type: "unknown", message: `[API Error: ${body}]` },
    stats: { total_tokens: 0 },
  };
}

/** A 429 of the real one: no JSON, and advice behind it. */
export const geminiLimit = {
  type: "result",
  status: "error",
  error: {
    type: "unknown",
    message: "[API Error: quota exceeded]\nPlease wait and try again later.",
  },
  stats: { total_tokens: 0 },
} as const;
