import type { z } from "zod";
import { choice, table, text } from "./fields.ts";

/** `[harness]` of the project and of an agent, whose keys go before the project's. */
export const harnessSchema = table({
  type: choice(["pi", "llm-cli"]).optional(),
  command: text("the name or path of an external command line").optional(),
});

export type HarnessTable = z.output<typeof harnessSchema>;
