import { numberAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { OutputLimit } from "../wire-api.ts";
import { tokensAt } from "./tokens-at.ts";

const fields = ["max_completion_tokens", "max_tokens"] as const;

/** The limit of chat completions, which has an old and a new name; `fieldFor` is the one to set where neither is. */
export function chatLimit(
  fieldFor: (...model: Parameters<OutputLimit["write"]>) => (typeof fields)[number],
): OutputLimit {
  return {
    read: (body) => {
      const limits = fields.map((one) => tokensAt(body, 1, one)).filter((limit) => limit !== null);
      return limits.length === 0 ? null : Math.min(...limits);
    },
    thinkingBudget: () => 0,
    write: (body, tokens, model) => {
      const given = fields.filter((field) => numberAt(body, field) !== null);
      const set = given.length > 0 ? given : [fieldFor(body, tokens, model)];
      return set.reduce<Json>((limited, field) => ({ ...limited, [field]: tokens }), body);
    },
  };
}
