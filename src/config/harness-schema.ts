import { defaultHarness, harnesses, harnessTypes } from "../../streams/harnesses.ts";
import type { z } from "zod";
import { choice, table, text } from "./fields.ts";

/** `[harness]` of the project and of an agent, whose keys go before the project's. */
export const harnessSchema = table({
  type: choice(harnessTypes)
    .optional()
    .describe(
      `${harnessTypes.map((type) => `"${type}" ${harnesses[type].summary}`).join(", ")}. Without it the project's, else "${defaultHarness}".`,
    ),
  command: text("the name or path of an external command line")
    .optional()
    .describe('What "llm-cli" starts. Without it the project\'s, else "claude".'),
});

export type HarnessTable = z.output<typeof harnessSchema>;
