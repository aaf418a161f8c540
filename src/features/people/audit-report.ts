import { z } from "zod";
import type { InMs } from "../../../streams/iso-times.ts";
import { nullableText, pageSize, since } from "../../foundation/contracts/wire-fields.ts";
import { auditActs } from "../../foundation/contracts/audit-acts.ts";
import { personSchema } from "../../foundation/contracts/question-views.ts";

export const auditQuerySchema = z.object({
  since,
  by: z.string().max(200).optional().meta({
    description: "How the person logged in (`key`, `login`, …), a chat user's name, or an address",
  }),
  agent: z.string().max(200).optional(),
  instance: z.string().max(200).optional().meta({ description: "Only acts on this run" }),
  act: z.enum(auditActs).optional(),
  before: z.coerce.number().int().optional().meta({ description: "The `next` of an earlier page" }),
  limit: pageSize(200, 50),
});
export type AuditQuery = z.output<typeof auditQuerySchema>;

const entrySchema = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    act: z.enum(auditActs),
    agent: nullableText,
    instanceId: nullableText,
    detail: z.string().meta({ description: "One line without secrets; long texts are cut" }),
    by: personSchema,
  })
  .meta({ id: "AuditEntry" });
export type AuditEntryView = z.infer<typeof entrySchema>;
/** An act with its time in epoch ms. */
export type AuditEntry = InMs<AuditEntryView, "at">;

export const auditSchema = z
  .object({ entries: z.array(entrySchema).readonly(), next: z.int().nullable() })
  .meta({ id: "Audit" });
export type AuditReport = z.infer<typeof auditSchema>;
