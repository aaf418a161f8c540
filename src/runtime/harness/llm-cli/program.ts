import { basename } from "node:path";
import type { ModelApi } from "../../../../streams/agent-config.ts";
import { unversionedUrl } from "../../../foundation/contracts/model-defaults.ts";
import type { CliRequest, LlmCli } from "./llm-cli.ts";

/** A program that is not known here: it reads its prompt from standard input, says what it prints, and its exit code decides. */
export function programOf(command: string): LlmCli {
  const program = basename(command);
  const noInput = `${program}  accepts no messages while it works: al kill ends the run`;
  return {
    program,
    provider: null,
    api: null,
    install: null,
    isPlain: true,
    refuses: { steer: noInput, stop: noInput },
    refusesRoot: false,
    firstRequest: { input: 0, output: 0 },
    command: ({ systemPrompt, prompt, ...request }) => ({
      args: request.args,
      env: modelVariables(request),
      input: `${systemPrompt}\n\n${prompt}\n`,
    }),
    reader: () => ({ take: () => undefined, result: () => null }),
  };
}

/** The variables by which the SDKs of providers find their API, and the model's id. */
function modelVariables({ model, api, baseUrl, key }: Omit<CliRequest, "prompt" | "systemPrompt">) {
  return { AL_MODEL: model.model, ...variables[api](baseUrl, key) };
}

type Variables = (baseUrl: string, key: string) => Readonly<Record<string, string>>;

const openai: Variables = (baseUrl, key) => ({
  OPENAI_BASE_URL: baseUrl,
  OPENAI_API_BASE: baseUrl,
  OPENAI_API_KEY: key,
});

const variables: Readonly<Record<ModelApi, Variables>> = {
  "openai-completions": openai,
  "openai-responses": openai,
  "anthropic-messages": (baseUrl, key) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: key }),
  "google-generative-ai": (baseUrl, key) => ({
    GOOGLE_GEMINI_BASE_URL: unversionedUrl(baseUrl),
    GEMINI_API_KEY: key,
  }),
  "mistral-conversations": (baseUrl, key) => ({ MISTRAL_BASE_URL: baseUrl, MISTRAL_API_KEY: key }),
};
