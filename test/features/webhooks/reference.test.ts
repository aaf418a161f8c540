import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import { attributesOf } from "../../../streams/triggers/attributes.ts";
import { samplesOf } from "./deliveries.ts";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { webhookReference } from "../../../src/features/webhooks/reference.ts";

/** The attributes of the sample events of each provider. */
const attributes = new Map<string, Set<string>>(
  [...providerTable.keys()].map((type) => [type, new Set()]),
);
for (const { type, read } of samplesOf("events.jsonl")) {
  const event = { ...(read as { event: WebhookEvent }).event, source: type };
  for (const name of Object.keys(attributesOf({ kind: "webhook", event })))
    attributes.get(type)?.add(name);
}

// `vitest run <this file> -u` writes it anew.
test("the reference page of webhooks is generated from the table of providers", () =>
  expect(webhookReference(providerTable.values(), attributes)).toMatchFileSnapshot(
    "../../../src/features/webhooks/reference.md",
  ));
