import { z } from "zod";
import type { AgentAnswer } from "../../contracts/agent-detail.ts";
import type { AgentView } from "../deps.ts";
import { describing } from "./describing.ts";

const factSchema = z.object({ label: z.string(), values: z.array(z.string()).readonly() });

/** An agent in full, for its own page. */
export function agentDetailSchema({ schema }: AgentView): z.ZodType<AgentAnswer, AgentAnswer> {
  return describing<AgentAnswer>(
    z.object({
      config: schema.nullable().meta({ description: "Null until there was a valid one" }),
      nextTicks: z.array(z.iso.datetime()).readonly(),
      scheduleText: z.string().nullable().meta({ description: "The schedule in words" }),
      facts: z
        .array(factSchema)
        .readonly()
        .meta({ description: "What the config sets, as lines for people" }),
    }),
  ).meta({ id: "AgentDetail" });
}
