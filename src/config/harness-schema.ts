import type { z } from "zod";
import { choice, table, text } from "./fields.ts";

/** `[harness]` of the project and of an agent, whose keys go before the project's. */
export const harnessSchema = table({
  type: choice(["pi", "llm-cli"])
    .optional()
    .describe(
      '"pi" talks to the models itself, "llm-cli" has an external command line do it. Without it the project\'s, else "pi".',
    ),
  command: text("the name or path of an external command line")
    .optional()
    .describe('What "llm-cli" starts. Without it the project\'s, else "claude".'),
});

export type HarnessTable = z.output<typeof harnessSchema>;
