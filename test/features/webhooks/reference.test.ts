import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { webhookReference } from "../../../src/features/webhooks/reference.ts";

// `vitest run <this file> -u` writes it anew.
test("the reference page of webhooks is generated from the table of providers", () =>
  expect(webhookReference(providerTable.values())).toMatchFileSnapshot(
    "../../../src/features/webhooks/reference.md",
  ));
