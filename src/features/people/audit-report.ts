import { z } from "zod";
import { nullableText, pageSize, since } from "../../foundation/contracts/wire-fields.ts";
import { auditActs, type Act } from "../../foundation/contracts/audit-acts.ts";
import { isoTime } from "../../foundation/contracts/format.ts";
import { personSchema } from "../../foundation/contracts/question-views.ts";
import type { Person } from "../../foundation/contracts/questions.ts";

/** An act with its time in epoch ms. */
export type AuditEntry = Readonly<Record<keyof Act, string | null>> & {
  readonly act: Act["act"];
  readonly id: number;
  readonly at: number;
  readonly detail: string;
  readonly by: Person;
};

export const auditQuerySchema = z.object({
  since,
  by: z.string().max(200).optional().meta({
    description: "How the person came (`key`, `login`, …), a chat user's name, or an address",
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

export const auditSchema = z
  .object({ entries: z.array(entrySchema).readonly(), next: z.int().nullable() })
  .meta({ id: "Audit" });
export type AuditReport = z.infer<typeof auditSchema>;

export function entryView({ at, ...entry }: AuditEntry): AuditEntryView {
  return { ...entry, at: isoTime(at) };
}
