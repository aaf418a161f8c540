import {
  messageIn,
  retryAfterIn,
  retryAfterOf,
} from "../../../../src/runtime/run-api/model-gateway/provider-failure.ts";

const heading = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>";

test.each([
  ['{"type":"error","error":{"message":"Overloaded"}}', "Overloaded"],
  ['{"message":"connection is wrong"}', "connection is wrong"],
  ["{}", "{}"],
  ["not json {\n", "not json {"],
  ["<html><head><title>503 Service Unavailable</title></head>", "503 Service Unavailable"],
  [heading, "502 Bad Gateway"],
])("messageIn(%j) returns %j", (body, message) => {
  expect(messageIn(body)).toBe(message);
});

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
  [
    {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String((now + 3_600_000) / 1000),
    },
    3_600_000,
  ],
  [{ "anthropic-ratelimit-unified-reset": String((now + 3_600_000) / 1000) }, null],
])("retryAfterOf(%j) returns %j", (headers, expected) => {
  expect(retryAfterOf(headers, now)).toBe(expected);
});

test.each([
  ["Please try again in 20s.", 20_000],
  ["Usage limit reached. Your limit will reset at 2026-10-21 08:28:00", 3_600_000],
  ["Please try again in 1m30.5s.", 90_500],
  ["retry after 5 seconds", 5_000],
  ["resets in 2 min", 120_000],
  ["resets in 1 hour, 5 minutes", 3_900_000],
  [`{"retry-after":"7"}`, 7_000],
  [`{"@type":"RetryInfo","retryDelay":"35s"}`, 35_000],
  [`{"type":"usage_limit_reached","resets_in_seconds":7200}`, 7_200_000],
  ["Retry-After: Wed, 21 Oct 2026 07:28:20 GMT", 20_000],
  ["try again in a moment", null],
  ["nothing of the kind, 5 s", null],
])("retryAfterIn(%j) returns %j", (text, expected) => {
  expect(retryAfterIn(text, now)).toBe(expected);
});
