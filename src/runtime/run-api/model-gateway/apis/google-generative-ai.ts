import type { Problem } from "../../../../foundation/errors.ts";
import type { UpstreamModel, CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { objectAt, at, countAt, listAt, textAt, bytesOf, type Json } from "../../../wire/json.ts";
import { tokensAt } from "../request-body.ts";
import type { OutputLimit, Route, WireApi, EventReading } from "../wire-api.ts";
import { fieldNames } from "../provider-side.ts";
import { json, list, many, object, one, type Fields } from "../request-shape.ts";

const operation = /^\/models\/[^:?#]+:(streamGenerateContent|generateContent|countTokens)$/;

/** Accepts streams only as server-sent events: without `alt=sse` a stream is one long JSON list. */
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

/** The API accepts each name as `camelCase` and as `snake_case`. */
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

/**
 * Each chunk has the usage so far, and the last one counts; a plain answer is one such chunk. Source: ai.google.dev,
 * "GenerateContentResponse", "UsageMetadata".
 */
function readEvent(event: unknown): EventReading {
  const candidates = listAt(event, "candidates");
  const parts = candidates.flatMap((candidate) => listAt(candidate, "content", "parts"));
  return {
    usage: at(event, "usageMetadata"),
    isLast:
      textAt(event, "promptFeedback", "blockReason") !== null ||
      candidates.some((candidate) => textAt(candidate, "finishReason") !== null),
    bytes: bytesOf(
      ...parts.flatMap((part) => [at(part, "text"), at(part, "functionCall", "args")]),
    ),
  };
}

/** `promptTokenCount` includes the cache, but not the tokens that the provider's tools add to the prompt. */
function usageOf(usage: Json): CallUsage {
  const prompt = countAt(usage, "promptTokenCount") ?? 0;
  const cacheRead = Math.min(prompt, countAt(usage, "cachedContentTokenCount") ?? 0);
  return {
    input: prompt - cacheRead + (countAt(usage, "toolUsePromptTokenCount") ?? 0),
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output:
      (countAt(usage, "candidatesTokenCount") ?? 0) + (countAt(usage, "thoughtsTokenCount") ?? 0),
  };
}

const dataFields: Fields = {
  inlineData: object(one("mimeType data displayName")),
  fileData: object(one("mimeType fileUri displayName"), ({ fileUri }) =>
    (fileUri ?? null) === null ? [] : ["url"],
  ),
};

const content = {
  ...one("role"),
  parts: list({
    ...one("text thought thoughtSignature"),
    ...json("executableCode codeExecutionResult toolCall toolResponse videoMetadata"),
    ...json("mediaResolution mediaProcessing partMetadata audioTranscription"),
    ...dataFields,
    functionCall: object({ ...one("id name willContinue"), ...json("args partialArgs") }),
    functionResponse: object({
      ...one("id name willContinue scheduling"),
      ...json("response"),
      parts: list(dataFields),
    }),
  }),
};

/** Kinds of tools that the client runs. */
const clientTools = new Set(["functionDeclarations", "computerUse"]);

const tools = list(
  {
    ...json("functionDeclarations computerUse googleSearch googleSearchRetrieval urlContext"),
    ...json("codeExecution googleMaps fileSearch mcpServers retrieval enterpriseWebSearch"),
    ...json("exaAiSearch parallelAiSearch"),
  },
  (tool) =>
    Object.keys(tool)
      .filter((kind) => !clientTools.has(kind))
      .map((kind) => kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
);

const generationConfig = object({
  ...one("candidateCount maxOutputTokens temperature topP topK seed presencePenalty"),
  ...one("frequencyPenalty responseLogprobs logprobs responseMimeType mediaResolution"),
  ...one("audioTimestamp enableEnhancedCivicAnswers enableAffectiveDialog"),
  ...many("stopSequences responseModalities"),
  ...json("responseSchema responseJsonSchema responseFormat speechConfig imageConfig"),
  thinkingConfig: object(one("includeThoughts thinkingBudget thinkingLevel")),
});

const fields: Fields = {
  ...one("cachedContent serviceTier store"),
  ...json("toolConfig safetySettings labels"),
  contents: list(content),
  systemInstruction: object(content),
  generationConfig,
  tools,
};

const names = (body: Parameters<typeof fieldNames>[0]) => [
  ...fieldNames(body, { cachedContent: [], serviceTier: ["standard", "flex", "STANDARD", "FLEX"] }),
  ...fieldNames(objectAt(body, "generationConfig"), { candidateCount: [1] }),
];

/** The model is in the path; `countTokens` may nest the whole request. Source: ai.google.dev, "Generating content". */
const googleRequest = object(
  { ...fields, generateContentRequest: object({ ...fields, ...one("model") }, names) },
  names,
);

/** The Gemini API. Source: ai.google.dev, "Generating content", "Counting tokens". */
export const googleGenerativeAi: WireApi = {
  cli: { retriesMissingEnd: true },
  route,
  keyHeader: (key) => ["x-goog-api-key", key],
  // The model is in the path.
  prepare: (body) => body,
  limit: limit(),
  request: googleRequest,
  spelling: camelCased,
  errorBody,
  readEvent,
  usageOf,
};
