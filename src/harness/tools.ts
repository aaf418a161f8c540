import { z } from "zod";
import type { Emit } from "./harness.ts";

/** A tool that the harness gives the model beside its own: something to ask of the scheduler. */
export interface HarnessTool {
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  readonly parameters: z.ZodObject;
  /** Does it and returns what the model is told. A throw is shown to the model as the tool's error. */
  run(input: unknown, emit: Emit): string;
}

const statusSchema = z.object({
  text: z.string().min(1).max(2000).describe("What you are doing, in one short line."),
});

const status: HarnessTool = {
  name: "al_status",
  description:
    "Shows one line about what you are doing to the people who watch this agent. Use it when a new step begins.",
  parameters: statusSchema,
  run: (input, emit) => {
    const text = statusSchema.parse(input).text.replace(/\s+/g, " ").trim().slice(0, 500);
    emit({ type: "status", text });
    return "shown";
  },
};

/** Every tool of the harness's own. */
export const harnessTools: readonly HarnessTool[] = [status];
