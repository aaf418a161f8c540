import { providers } from "../../../streams/agent-config.ts";
import type { Provider } from "../../../streams/agent-config.ts";
import type { ModelTable } from "./project-schema.ts";

/** A key that models of some providers can't do without. */
interface NeededKey {
  readonly key: "script" | "model" | "baseUrl";
  readonly providers: readonly Provider[];
  readonly expected: (provider: Provider) => string;
}

/** The check of a project's config and the editor's schema are made from this table. */
export const neededModelKeys: readonly NeededKey[] = [
  {
    key: "script",
    providers: ["scripted"],
    expected: () => "the path of the script that the model replays",
  },
  {
    key: "model",
    providers: providers.filter((provider) => provider !== "scripted"),
    expected: (provider) => `the name that ${provider} gives the model`,
  },
  {
    key: "baseUrl",
    providers: ["custom"],
    expected: () => "the URL of an OpenAI-compatible endpoint",
  },
];

/** The first key that the model lacks, and what is expected there; null when it has all. */
export function missingModelKey(model: ModelTable): readonly [string, string] | null {
  const { provider } = model;
  const missing = neededModelKeys.find(
    (needed) => needed.providers.includes(provider) && model[needed.key] === undefined,
  );
  return missing === undefined ? null : [missing.key, missing.expected(provider)];
}
