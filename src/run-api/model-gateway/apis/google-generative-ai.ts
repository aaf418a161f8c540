import type { UpstreamModel } from "../../../contracts/model-gateway.ts";
import { isObject, objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { fieldNames, isAddress } from "../provider-side.ts";
import type { OutputLimit, Problem, ProviderSideRules, Route, WireApi } from "../wire-api.ts";
import { readGoogleUsage } from "./google-usage.ts";
import { tokensAt } from "./tokens-at.ts";

/** The Gemini API. Source: ai.google.dev, "Generating content", "Counting tokens". */
export const googleGenerativeAi: WireApi = {
  route,
  keyHeader: (key) => ["x-goog-api-key", key],
  prepare: (body) => {
    const named = camelCased(body);
    const config = objectAt(named, "generationConfig");
    // The path has the model; a count of tokens may repeat the request inside.
    return Object.keys(config).length === 0
      ? named
      : { ...named, generationConfig: camelCased(config) };
  },
  limit: limit(),
  providerSide: providerSide(),
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

/** The API takes each name as `camelCase` and as `snake_case`; with one of the two no field can be there twice. */
function camelCased(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

function limit(): OutputLimit {
  return {
    read: (body) => tokensAt(body, 1, "generationConfig", "maxOutputTokens"),
    // Thinking counts toward the limit; -1 leaves its amount to the model.
    thinkingBudget: (body) => {
      const config = camelCased(objectAt(body, "generationConfig", "thinkingConfig"));
      return Math.max(0, tokensAt(config, -1, "thinkingBudget") ?? 0);
    },
    write: (body, tokens) => ({
      ...body,
      generationConfig: { ...objectAt(body, "generationConfig"), maxOutputTokens: tokens },
    }),
  };
}

/** Kinds of tools that the client runs. */
const clientTools = new Set(["function_declarations", "computer_use"]);

function providerSide(): ProviderSideRules {
  return {
    toolNames: (tool) =>
      (isObject(tool) ? Object.keys(tool) : []).map(snakeCased).filter((n) => !clientTools.has(n)),
    messageFields: ["contents", "systemInstruction", "generateContentRequest"],
    contentName: (part) => {
      const file = camelCased(objectAt(camelCased(part), "fileData"));
      return isAddress(file.fileUri) || textAt(file, "fileUri") !== null ? "url" : null;
    },
    opaqueFields: new Set(["args", "response"]),
    bodyNames: (body) => [
      ...fieldNames(body, {
        cachedContent: [],
        serviceTier: ["standard", "flex", "STANDARD", "FLEX"],
      }),
      ...fieldNames(objectAt(body, "generationConfig"), { candidateCount: [1] }),
    ],
  };
}

function snakeCased(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
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
