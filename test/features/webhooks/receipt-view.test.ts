import type { Receipt } from "../../../src/foundation/store/receipts.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { viewReceipt } from "../../../src/features/webhooks/receipt-view.ts";

const known = "a-secret-that-the-store-knows";

function view(body: unknown, change: Partial<Receipt> = {}) {
  const receipt: Receipt = {
    id: "r1",
    at: 1_000,
    source: "chat",
    type: "slack",
    deliveryId: "Ev1",
    headers: { "content-type": "application/json" },
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    matched: ["dev"],
    reason: null,
    ...change,
  };
  const redactor = createRedactor();
  redactor.add([known]);
  return viewReceipt("r1", { receipt: (id) => (id === "r1" ? receipt : null), redactor });
}

test("the view of a webhook receipt shows the payload", () => {
  const payload = { type: "event_callback", event: { type: "message" } };
  expect(view(payload)).toEqual({
    receiptId: "r1",
    at: "1970-01-01T00:00:01.000Z",
    source: "chat",
    type: "slack",
    deliveryId: "Ev1",
    headers: { "content-type": "application/json" },
    matched: ["dev"],
    reason: null,
    bytes: 52,
    payload,
    text: null,
  });
});

test("the view of a webhook receipt shows a large payload in part, and says what is left out", () => {
  const commits = Array.from({ length: 100_000 }, (_, n) => ({ id: n, message: `${known} ${n}` }));
  const long = "x".repeat(2_000_000);
  const { payload, bytes } = view({ action: "pushed", long, token: "t", commits, after: 1 });
  const text = JSON.stringify(payload);
  expect(bytes).toBeGreaterThan(5_000_000);
  expect(text.length).toBeLessThan(2_000_000);
  expect(text).not.toContain(known);
  expect(payload).toMatchObject({
    action: "pushed",
    token: "[redacted]",
    long: "[a text of 2000000 characters, not shown]",
    "…": "[1 more, not shown]",
  });
  const shown = (payload as { commits: unknown[] }).commits;
  expect(shown.at(-1)).toBe(`[${100_000 - shown.length + 1} more, not shown]`);
});

test.each([
  ["is large", "x".repeat(2_000_000), {}, "[2000000 bytes, not shown]"],
  ["is text", `plain ${known}`, {}, "plain [redacted]"],
  ["is of an unknown type", "{}", { type: "gone" }, "{}"],
])(
  "the view of a webhook receipt whose body %s shows the body as text",
  (_, body, change, text) => {
    expect(view(body, change)).toMatchObject({ payload: null, text });
  },
);

test("the view of a webhook receipt redacts fields named like a secret, at any depth", () => {
  const payload = {
    token: "xoxb-legacy",
    authorizations: [{ team_id: "T1", access_token: "xoxb-2" }],
    data: { "client-secret": "s", apiKey: "k", PrivateKey: "p", signature: "g", next_page: 3 },
    secret: null,
    password: "",
    tokens: { used: 5 },
  };
  const mark = "[redacted]";
  expect(view(payload).payload).toEqual({
    token: mark,
    authorizations: [{ team_id: "T1", access_token: mark }],
    data: { "client-secret": mark, apiKey: mark, PrivateKey: mark, signature: mark, next_page: 3 },
    secret: null,
    password: "",
    tokens: { used: 5 },
  });
});

test("the view of a webhook receipt redacts known secrets everywhere", () => {
  const shown = view(
    { title: `use ${known} here` },
    {
      headers: { "x-note": known, "x-auth-token": "t" },
      reason: `labels does not include ${known}`,
    },
  );
  expect(JSON.stringify(shown)).not.toContain(known);
  expect(shown.headers).toEqual({ "x-note": "[redacted]", "x-auth-token": "[redacted]" });
});

test("the view of a webhook receipt cuts an endlessly nested body", () => {
  const shown = view(`${'{"deep":'.repeat(1_000)}1${"}".repeat(1_000)}`);
  expect(JSON.stringify(shown.payload)).toContain("[too deep]");
});

/** As in https://docs.sentry.io/organization/integrations/integration-platform/webhooks/installation/. */
function installation(code: unknown) {
  const data = { installation: { app: { slug: "al" }, status: "pending", code } };
  return { action: "created", data, installation: { uuid: "1" } };
}

const errorCode = { data: { error: { code: "E_1" }, installation: "none" } };
test.each<[string, string, object, object]>([
  ["a grant", "installation", installation("a-grant-code"), installation("[redacted]")],
  ["no code", "installation", installation(null), installation(null)],
  ["an empty code", "installation", installation(""), installation("")],
  ["the code of an error", "error", errorCode, errorCode],
])(
  "the view of a Sentry webhook with %s redacts the authorization code of a grant only",
  (_, resource, payload, shown) => {
    const headers = { "sentry-hook-resource": resource };
    expect(view(payload, { type: "sentry", headers }).payload).toEqual(shown);
  },
);
