import type { Problem } from "../../../../foundation/errors.ts";
import type { UpstreamModel } from "../../../../foundation/contracts/model-gateway.ts";
import type { Json } from "../../../wire/json.ts";

/**
 * OpenAI selects the tier of a request without one by the OpenAI project's settings, which may double the reserved
 * price. Source: its reference, `service_tier`.
 */
export function withServiceTier(body: Json, { provider }: UpstreamModel): Json {
  const isOpen = (body.service_tier ?? null) === null;
  return provider === "openai" && isOpen ? { ...body, service_tier: "default" } : body;
}

/** `{"error":{"message","type","param","code"}}`. Source: OpenAI's "Error codes" guide. */
export function openaiErrorBody({ status, code, message }: Problem): object {
  return { error: { message, type: typeOf(status, code), param: null, code } };
}

function typeOf(status: number, code: string): string {
  if (code === "budget_exceeded") return "insufficient_quota";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
