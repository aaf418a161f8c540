import { neededModelKeys } from "./needed-model-keys.ts";

/** Rules of a JSON Schema for what spans several keys, where the config's own checks are code. */

/** An agent that something starts, or that is disabled. */
export const startedAgent = {
  anyOf: [
    { required: ["schedule"] },
    { required: ["webhooks"], properties: { webhooks: { type: "array", minItems: 1 } } },
    { required: ["callable"], properties: { callable: { const: true } } },
    { required: ["scale"], properties: { scale: { const: 0 } } },
  ],
};

/** A model with the keys that its provider needs. */
export function completeModel(): object {
  const rules = neededModelKeys.map(({ key, providers }) => ({
    if: { required: ["provider"], properties: { provider: { enum: providers } } },
    then: { required: [key] },
  }));
  return { allOf: rules };
}
