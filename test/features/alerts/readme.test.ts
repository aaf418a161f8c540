import { readFileSync } from "node:fs";
import { join } from "node:path";
import { alertTargetTypes } from "../../../streams/alert-options.ts";
import { alertCredentialTypes } from "../../../src/foundation/config/fields.ts";
import { credentialType } from "../../../src/foundation/credentials/credential-types.ts";
import { webhookSecret } from "./fake-apis.ts";
import { startReceiver } from "./receiver.ts";
import { alerts, messageFor, sendWith, targetOf } from "./samples.ts";

const readme = readFileSync(
  join(import.meta.dirname, "../../../src/features/alerts/README.md"),
  "utf8",
);

/** The first block of a language. */
function block(language: string): string {
  return readme.split(`\`\`\`${language}\n`)[1]?.split("```")[0] ?? "";
}

async function receivedRequest() {
  const { base, received } = await startReceiver(() => ({ status: 204 }));
  const sendAlert = sendWith({ url: base, secret: webhookSecret });
  await sendAlert(messageFor(alerts.opened), targetOf("webhook"));
  const [request] = received;
  if (request === undefined) throw new Error("nothing came");
  return request;
}

type Verify = (headers: object, body: string, secret: string) => boolean;

test("the README's example of a webhook receiver accepts alerts, and rejects tampered ones", async () => {
  const url = `data:text/javascript,${encodeURIComponent(block("js"))}`;
  const { isFromAlmanac } = (await import(url)) as { isFromAlmanac: Verify };
  const { headers, text } = await receivedRequest();
  expect(isFromAlmanac(headers, text, webhookSecret)).toBe(true);
  expect(isFromAlmanac(headers, text.replace("dev", "ops"), webhookSecret)).toBe(false);
  const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  expect(isFromAlmanac(headers, text, other)).toBe(false);
  expect(isFromAlmanac({ ...headers, "webhook-timestamp": "1" }, text, webhookSecret)).toBe(false);
  expect(isFromAlmanac({}, text, webhookSecret)).toBe(false);
});

test("the README's example of an alert's body has the fields that are sent", async () => {
  const sent = JSON.parse((await receivedRequest()).text) as { data: object };
  const shown = JSON.parse(block("json")) as { data: object };
  expect(Object.keys(shown)).toEqual(Object.keys(sent));
  expect(Object.keys(shown.data).sort()).toEqual(Object.keys(sent.data).sort());
});

test("the README's table lists each type of alert target with each of its fields", () => {
  for (const type of alertTargetTypes) {
    const credential = alertCredentialTypes[type];
    const row = readme
      .split("\n")
      .find((line) => line.startsWith(`| \`${type}\` | \`${credential}\``));
    for (const field of Object.keys(credentialType(credential)?.fields ?? {})) {
      expect(row, type).toContain(`\`${field}\``);
    }
  }
});
