import { z } from "zod";

/** A model of a server on this machine, or near it. */
export interface LocalModel {
  readonly baseUrl: string;
  readonly model: string;
}

/** Addresses at which Ollama, LM Studio and vLLM listen unless they are told otherwise. */
export const usualServers = [
  "http://localhost:11434/v1",
  "http://localhost:1234/v1",
  "http://localhost:8000/v1",
] as const;

/** How long a server may take to list its models, in ms. */
const timeoutMs = 2_000;

/** `GET /models` of OpenAI's API: https://platform.openai.com/docs/api-reference/models/list */
const modelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** The models of these servers, in their order. A server that doesn't answer has none. */
export async function localModels(baseUrls: readonly string[]): Promise<readonly LocalModel[]> {
  return (await Promise.all(baseUrls.map(modelsOf))).flat();
}

async function modelsOf(baseUrl: string): Promise<readonly LocalModel[]> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/models`, { signal });
    const { data } = modelList.parse(await response.json());
    return data.map(({ id }) => ({ baseUrl, model: id }));
  } catch {
    return [];
  }
}
