import { expect, test } from "vitest";
import { shownPayload } from "../../src/webhooks/shown-payload.ts";

/** As in https://docs.sentry.io/organization/integrations/integration-platform/webhooks/installation/. */
function installation(code: unknown) {
  const data = { installation: { app: { slug: "al" }, status: "pending", code } };
  return { action: "created", data, installation: { uuid: "1" } };
}

function show(payload: unknown, resource: string) {
  const headers = { "sentry-hook-resource": resource };
  return shownPayload({ type: "sentry", headers, body: Buffer.from(JSON.stringify(payload)) });
}

test("the grant code of a Sentry installation is not shown, and all else is", () => {
  expect(show(installation("a-grant-code"), "installation")).toEqual(installation("[redacted]"));
});

test("an installation without a code is shown as it came", () => {
  for (const code of [null, "", undefined]) {
    const payload = JSON.parse(JSON.stringify(installation(code))) as unknown;
    expect(show(payload, "installation")).toEqual(payload);
  }
});

test("a code that is no grant, such as an error's, is shown", () => {
  const payload = { action: "created", data: { error: { code: "E_1" }, installation: "none" } };
  expect(show(payload, "error")).toEqual(payload);
});

test("a body that isn't JSON, and one of an unknown type, have no payload", () => {
  const body = Buffer.from("{");
  const headers = { "sentry-hook-resource": "issue" };
  expect(shownPayload({ type: "sentry", headers, body })).toBeNull();
  expect(shownPayload({ type: "gone", headers, body: Buffer.from("{}") })).toBeNull();
});
