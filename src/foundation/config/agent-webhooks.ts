import { z } from "zod";
import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { agentKey, factOf } from "./config-key.ts";
import { list } from "./fields.ts";
import { webhookBindings, webhookSchema } from "./webhook-bindings.ts";

const bindingSchema = z.object({
  source: z.string(),
  type: z.string(),
  filters: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string()).readonly()])),
  where: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .exactOptional()
    .meta({ description: "Values that the payload must have, by dotted paths" }),
});

export const webhooksKey = agentKey({
  inFile: "webhooks",
  field: list(webhookSchema, "tables [[webhooks]]")
    .default([])
    .describe("Deliveries that start it."),
  resolve: (entries, { project, filters, diagnostics }): readonly WebhookBinding[] =>
    webhookBindings(entries, project, filters, diagnostics),
  written: (bindings) => bindings.map(writtenBinding),
  value: z.array(bindingSchema).readonly(),
  isLong: true,
  facts: (bindings) => factOf("Webhooks", bindings.map(bindingText)),
});

function writtenBinding({ source, filters, where }: WebhookBinding): object {
  return { source, ...filters, ...(where === undefined ? {} : { where }) };
}

/** `github: repos acme/website; actions opened, labeled; where issue.number is 7`. */
function bindingText({ source, filters, where = {} }: WebhookBinding): string {
  const texts = [
    ...Object.entries(filters).map(
      ([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : String(value)}`,
    ),
    ...Object.entries(where).map(([path, value]) => `where ${path} is ${JSON.stringify(value)}`),
  ];
  return `${source}: ${texts.length === 0 ? "everything" : texts.join("; ")}`;
}
