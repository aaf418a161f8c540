import {
  providerFailure,
  retryAfterIn,
  retryAfterOf,
} from "../../../src/runtime/harness/provider-failure.ts";

const overloaded = '{"type":"error","error":{"message":"Overloaded"}}';
const page = "<html><head><title>503 Service Unavailable</title></head><body>x</body></html>";
const heading = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>";

test.each([
  [`529 ${overloaded}`, 529, "529 Overloaded", 60_000],
  ["503", 503, "503", 60_000],
  ["500 status code (no body)", 500, "500 status code (no body)", 60_000],
  ["Connection error.", null, "Connection error.", 60_000],
  [`401: {"error":{"message":"Incorrect API key"}}`, 401, "401 Incorrect API key", null],
  [`400: {"message":"connection is wrong"}`, 400, "400 connection is wrong", null],
  ["403 not json {", 403, "403 not json {", null],
  ["the model made no sense", null, "the model made no sense", null],
  ["the 503 files were not found", null, "the 503 files were not found", null],
  [`OpenAI API error (529): ${overloaded}`, 529, "529 Overloaded", 60_000],
  [`OpenAI API error: 529 ${overloaded}`, 529, "529 Overloaded", 60_000],
  ["unexpected status 502 Bad Gateway: upstream", 502, "502 Bad Gateway: upstream", 60_000],
  ["HTTP/1.1 503 Service Unavailable", 503, "503 Service Unavailable", 60_000],
  [page, 503, "503 Service Unavailable", 60_000],
  [`502 ${heading}`, 502, "502 Bad Gateway", 60_000],
  ["429 try again in 120ms", 429, "429 try again in 120ms", 1_000],
  ["429 try again in 99999 s", 429, "429 try again in 99999 s", 3_600_000],
])(
  "providerFailure(%j) returns status %s, message %j and cooldown %s",
  (text, status, message, cooldownMs) => {
    expect(providerFailure(text)).toMatchObject({ status, message, cooldownMs });
  },
);

test("providerFailure prefers the status and retry-after of the response over its text", () => {
  const facts = { status: 503, retryAfterMs: 9_000 };
  expect(providerFailure("429: try again in 2s", facts)).toMatchObject({
    status: 503,
    retryAfterMs: 9_000,
    cooldownMs: 9_000,
  });
});

test.each([
  "429 You exceeded your current quota. Please retry in 35s.",
  "429 slow down",
  "500 oops",
])("a provider's failure is transient: %j", (text) => {
  expect(providerFailure(text).isTransient).toBe(true);
});

test.each([
  "429 You exceeded your current quota, please check your plan and billing details.",
  "404 no such model",
])("a provider's failure is permanent: %j", (text) => {
  expect(providerFailure(text).isTransient).toBe(false);
});

test("providerFailure shortens a long HTML page in its message", () =>
  expect(providerFailure(`502 <html>${"x".repeat(100_000)}`).message.length).toBeLessThan(2100));

const now = Date.parse("2026-10-21T07:28:00Z");

test.each([
  [{ "retry-after": "30" }, 30_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Wed, 21 Oct 2026 07:28:20 GMT" }, 20_000],
  [{ "retry-after": "Wed, 21 Oct 2026 07:00:00 GMT" }, 0],
  [{ "retry-after-ms": "1500", "retry-after": "30" }, 1500],
  [{ "retry-after": "soon" }, null],
  [{}, null],
  [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [{ "x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "9s" }, null],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now + 4_000) }, 4_000],
  [
    {
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-10-21T07:28:07Z",
    },
    7_000,
  ],
])("retryAfterOf(%j) returns %j", (headers, expected) => {
  expect(retryAfterOf(headers, now)).toBe(expected);
});

test.each([
  ["Please try again in 20s.", 20_000],
  ["Please try again in 1m30.5s.", 90_500],
  ["retry after 5 seconds", 5_000],
  ["resets in 2 min", 120_000],
  ["resets in 1 hour, 5 minutes", 3_900_000],
  [`{"retry-after":"7"}`, 7_000],
  [`{"@type":"RetryInfo","retryDelay":"35s"}`, 35_000],
  ["Retry-After: Wed, 21 Oct 2026 07:28:20 GMT", 20_000],
  ["try again in a moment", null],
  ["nothing of the kind, 5 s", null],
])("retryAfterIn(%j) returns %j", (text, expected) => {
  expect(retryAfterIn(text, now)).toBe(expected);
});
