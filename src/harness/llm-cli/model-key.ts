import type { JobModel } from "../../contracts/job.ts";
import type { LlmCli } from "./llm-cli.ts";

/** Whether a CLI gets a model's key, and what is odd about the pair. */
export interface KeyDecision {
  readonly key: string | null;
  readonly warning: string | null;
}

/**
 * Decides which key a CLI gets. A model of another vendor is tried with a warning, but its key goes to that CLI only
 * where a `baseUrl` says who will see it: the CLI would show it to its own vendor. Throws for what cannot work.
 */
export function keyFor(model: JobModel, { program, provider }: LlmCli): KeyDecision {
  const name = `model "${model.name}"`;
  if (model.provider === "scripted") {
    throw new Error(
      `${name} is scripted, which only the pi harness plays: set type = "pi" under [harness]`,
    );
  }
  if (model.key === null && model.authType !== "none") {
    throw new Error(`${name}: its key is missing`);
  }
  if (model.provider === provider) return { key: model.key, warning: null };
  const odd = `${name} is one of ${model.provider}, while ${program} is made for models of ${provider}`;
  return model.baseUrl === null
    ? { key: null, warning: `${odd}; it is not given the model's key` }
    : { key: model.key, warning: odd };
}
