import type { UpstreamModel } from "../../../../foundation/contracts/model-gateway.ts";
import { objectAt } from "../json.ts";
import type { OutputLimit, Problem, Route, WireApi } from "../wire-api.ts";
import { googleRequest } from "./google-request.ts";
import { readGoogleUsage } from "./google-usage.ts";
import { tokensAt } from "./tokens-at.ts";

/** The Gemini API. Source: ai.google.dev, "Generating content", "Counting tokens". */
export const googleGenerativeAi: WireApi = {
  route,
  keyHeader: (key) => ["x-goog-api-key", key],
  // The path has the model.
  prepare: (body) => body,
  limit: limit(),
  request: googleRequest,
  spelling: camelCased,
  errorBody,
  createUsageReader: readGoogleUsage,
};

const operation = /^\/models\/[^:?#]+:(streamGenerateContent|generateContent|countTokens)$/;

/** A stream is read as events alone: without `alt=sse` it would be one long list. */
function route(path: string, query: URLSearchParams, { model }: UpstreamModel): Route | null {
  const [, method] = operation.exec(path) ?? [];
  if (method === undefined) return null;
  const isStream = method === "streamGenerateContent";
  if (isStream && query.get("alt") !== "sse") return null;
  const id = model.includes("/") ? model : `models/${model}`;
  return {
    path: `/${id.split("/").map(encodeURIComponent).join("/")}:${method}`,
    query: isStream ? { alt: "sse" } : {},
    isMetered: method !== "countTokens",
  };
}

/** The API takes each name as `camelCase` and as `snake_case`. */
function camelCased(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function limit(): OutputLimit {
  return {
    read: (body) => tokensAt(body, 1, "generationConfig", "maxOutputTokens"),
    // Thinking counts toward the limit; -1 leaves its amount to the model.
    thinkingBudget: (body) => {
      const path = ["generationConfig", "thinkingConfig", "thinkingBudget"];
      return Math.max(0, tokensAt(body, -1, ...path) ?? 0);
    },
    write: (body, tokens) => ({
      ...body,
      generationConfig: { ...objectAt(body, "generationConfig"), maxOutputTokens: tokens },
    }),
  };
}

const statuses: Readonly<Record<number, string>> = {
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function errorBody({ status, code, message }: Problem): object {
  const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code };
  const name = statuses[status] ?? "INVALID_ARGUMENT";
  return { error: { code: status, message, status: name, details: [reason] } };
}
