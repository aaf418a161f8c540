import { z } from "zod";
import { withoutEndSlashes } from "../../../foundation/contracts/plain-text.ts";

/** A model of a server on this machine, or near it. */
export interface LocalModel {
  readonly baseUrl: string;
  readonly model: string;
}

/** Default addresses of Ollama, LM Studio and vLLM. */
export const usualServers = [
  "http://localhost:11434/v1",
  "http://localhost:1234/v1",
  "http://localhost:8000/v1",
] as const;

/** How long a server may take to list its models, in ms, and how long the list may be. */
const timeoutMs = 2_000;
const maxBytes = 1024 ** 2;

/** `GET /models` of OpenAI's API: https://platform.openai.com/docs/api-reference/models/list */
const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });
/** An id is shown on a terminal. */
const printableId = /^[\p{L}\p{N}\p{P}\p{S}]+$/u;

/** The models of these servers, in their order; a server that doesn't answer is left out. */
export async function localModels(baseUrls: readonly string[]): Promise<readonly LocalModel[]> {
  return (await Promise.all(baseUrls.map(modelsOf))).flat();
}

async function modelsOf(baseUrl: string): Promise<readonly LocalModel[]> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${withoutEndSlashes(baseUrl)}/models`, { signal });
    const { data } = modelList.parse(JSON.parse(await textOf(response)));
    const ids = data.map(({ id }) => id).filter((id) => printableId.test(id));
    return ids.map((model) => ({ baseUrl, model }));
  } catch {
    return [];
  }
}

/** Throws if the response is longer than any list of models; leaving the loop aborts the request. */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error("the list of models is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
