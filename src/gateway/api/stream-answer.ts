import type { z } from "zod";

declare module "fastify" {
  interface FastifySchema {
    /** What the events of a stream hold, by their name. */
    events?: Readonly<Record<string, z.ZodType>>;
  }
}

/** The part of a route's schema that says it answers with an event stream. */
export function streamAnswer(events: Readonly<Record<string, z.ZodType>>): {
  readonly produces: string;
  readonly events: Readonly<Record<string, z.ZodType>>;
} {
  return { produces: "text/event-stream", events };
}
