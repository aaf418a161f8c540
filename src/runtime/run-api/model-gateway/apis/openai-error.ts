import type { Problem } from "../wire-api.ts";

/** `{"error":{"message","type","param","code"}}`. Source: OpenAI's "Error codes" guide. */
export function openaiErrorBody({ status, code, message }: Problem): object {
  return { error: { message, type: typeOf(status, code), param: null, code } };
}

function typeOf(status: number, code: string): string {
  if (code === "budget_exceeded") return "insufficient_quota";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
