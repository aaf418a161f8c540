import type { UpstreamModel } from "../../../../foundation/contracts/model-gateway.ts";
import type { Json } from "../json.ts";

/**
 * OpenAI serves a request without a tier as its project's settings say, which may be at twice the price that was
 * reserved. Source: its reference, `service_tier`.
 */
export function withServiceTier(body: Json, { provider }: Pick<UpstreamModel, "provider">): Json {
  const isOpen = (body.service_tier ?? null) === null;
  return provider === "openai" && isOpen ? { ...body, service_tier: "default" } : body;
}
