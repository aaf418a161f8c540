import { z } from "zod";
import { nullableText } from "./wire-fields.ts";
import { denyReasons, type DenyReason } from "./deny-reasons.ts";
import { fileEditedSchema } from "./file-edits.ts";

/** A host that a run requested, for as long as the result was the same. */
export const runHostSchema = z
  .object({
    host: z.string(),
    port: z.int().meta({ description: "0 when the address could not be read" }),
    denied: z.enum(denyReasons).nullable().meta({ description: "Why; null where it was reached" }),
    connections: z.int(),
    bytesOut: z.number().meta({ description: "From the run" }),
    bytesIn: z.number(),
    lastAt: z.iso.datetime(),
  })
  .meta({ id: "RunHost" });
export type RunHost = z.infer<typeof runHostSchema>;

/** Why the runs of an agent could not reach a host, summed over all runs. */
export type DeniedHost = Pick<RunHost, "host" | "port" | "lastAt"> & {
  readonly denied: DenyReason;
  readonly attempts: number;
};

const deniedHostSchema = runHostSchema
  .pick({ host: true, port: true, lastAt: true })
  .extend({
    denied: z.enum(denyReasons),
    attempts: z.int(),
    entry: nullableText.meta({
      description:
        "Entry that would allow it in `[network].allow`; null if no entry can, or one does already",
    }),
  })
  .meta({ id: "DeniedHost" });

/** The denied hosts of an agent, the latest first. */
export const agentHostsSchema = z
  .object({
    days: z.int().meta({ description: "How many days they cover" }),
    isEditable: z.boolean().meta({ description: "`[gateway].edit` of the project" }),
    denied: z.array(deniedHostSchema).readonly(),
  })
  .meta({ id: "AgentHosts" });
export type AgentHosts = z.infer<typeof agentHostsSchema>;

/** For how many days denied hosts are shown. */
export const deniedDays = 30;

/** Request to write an entry into an agent's file. */
export const allowHostSchema = z.strictObject({
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535).default(443),
  private: z
    .boolean()
    .default(false)
    .meta({ description: "Whether it may have an address of a private network" }),
  dryRun: z.boolean().default(false).meta({ description: "Whether nothing is written" }),
});
export type AllowHostRequest = z.output<typeof allowHostSchema>;

export const hostAllowedSchema = fileEditedSchema
  .extend({ entry: z.string() })
  .meta({ id: "HostAllowed" });
export type HostAllowed = z.infer<typeof hostAllowedSchema>;
