import { z } from "zod";
import { onNews, type Concurrency } from "../../../streams/agent-config.ts";
import { templateProblem } from "../../../streams/triggers/key-template.ts";
import { agentKey, factOf } from "./config-key.ts";
import { choice, integer, table, text } from "./fields.ts";

const expected = 'a template, e.g. "{repository}#{number}"';

/** A template over the attributes of triggers. */
export function keyTemplate() {
  return text(expected).refine((given) => templateProblem(given) === null, {
    error: ({ input }) => `${expected}: ${templateProblem(String(input)) ?? ""}`,
  });
}

/** An agent's `[concurrency]`. */
export const concurrencyKey = agentKey({
  inFile: "concurrency",
  field: table({
    key: keyTemplate().describe(
      'Triggers with the same key run one after the other. A template over attributes of the trigger, e.g. "{repository}#{number}"; `{{` and `}}` are braces. `al webhook test` prints the attributes of a delivery. A trigger without one of them has no key: it runs on its own.',
    ),
    limit: integer("concurrent runs", 1)
      .default(1)
      .describe("Maximum number of concurrent runs of one key. `scale` limits all keys together."),
    onNew: choice(onNews)
      .default("wait")
      .describe(
        'What a new trigger does while its key is busy. "wait": it waits behind the others. "replace": it replaces the one that waits, which ends as `superseded`. "cancel": it also ends the oldest run of its key, with a signal and a grace period; that run ends as `superseded`, which is not a failure. A missed run that starts later only waits. If the newer trigger never starts, both can be replayed.',
      ),
  })
    .optional()
    .describe("Keys that keep triggers about the same subject from running side by side."),
  resolve: (given): Concurrency | null => given ?? null,
  value: z.object({ key: z.string(), limit: z.int(), onNew: z.enum(onNews) }).nullable(),
  facts: (given, { config: { scale } }) =>
    given === null ? [] : factOf("Concurrency key", factsOf(given, scale)),
});

const newTexts = {
  wait: "a new trigger waits behind the others",
  replace: "a new trigger replaces the one that waits",
  cancel: "a new trigger replaces the one that waits and ends the running one",
} as const;

function factsOf({ key, limit, onNew }: Concurrency, scale: number): string[] {
  const serial = serialText(scale);
  return [key, `${limit} at once`, newTexts[onNew], ...(serial === null ? [] : [serial])];
}

/** Why different keys do not run side by side; null if they do. */
export function serialText(scale: number): string | null {
  return scale === 1 ? "scale = 1: runs of different keys also wait for each other" : null;
}
