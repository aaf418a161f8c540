import { objectAt } from "../json.ts";
import { fieldNames } from "../provider-side.ts";
import { json, list, many, object, one } from "../request-shape.ts";
import type { Fields } from "../request-shape.ts";

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
  ...fieldNames(body, {
    cachedContent: [],
    serviceTier: ["standard", "flex", "STANDARD", "FLEX"],
  }),
  ...fieldNames(objectAt(body, "generationConfig"), { candidateCount: [1] }),
];

/** The path has the model; a count of tokens may repeat the request inside. Source: ai.google.dev, "Generating content". */
export const googleRequest = object(
  { ...fields, generateContentRequest: object({ ...fields, ...one("model") }, names) },
  names,
);
