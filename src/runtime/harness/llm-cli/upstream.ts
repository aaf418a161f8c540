import { apiBaseUrl } from "../../../foundation/contracts/base-url.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import type { LlmCli } from "./llm-cli.ts";

/** Base URL of the provider's API. Throws for a model that the CLI can't ask. */
export function upstreamOf(model: JobModel, { program, provider, api }: LlmCli): string {
  const name = `model "${model.name}"`;
  if (model.provider === "scripted") {
    throw new Error(
      `${name} is scripted, which only the pi harness plays: set type = "pi" under [harness]`,
    );
  }
  if (model.provider !== provider && model.baseUrl === null) {
    throw new Error(
      `${name} is one of ${model.provider}, while ${program} is made for models of ${provider}: take one of those, or set the model's baseUrl to a server that speaks ${provider}'s API`,
    );
  }
  return apiBaseUrl(model.baseUrl, { provider: model.provider, api });
}

/** What is odd about the pair; null for nothing. */
export function oddPair(model: JobModel, { program, provider }: LlmCli): string | null {
  if (model.provider === provider) return null;
  return `model "${model.name}" is one of ${model.provider}, while ${program} is made for models of ${provider}`;
}
