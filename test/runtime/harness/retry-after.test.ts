import { describe, expect, it } from "vitest";
import { retryAfterIn, retryAfterOf } from "../../../src/runtime/harness/retry-after.ts";

const now = Date.parse("2026-10-21T07:28:00Z");

describe("how long a provider asks to wait", () => {
  it.each([
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
  ])("is read from the headers %j", (headers, expected) => {
    expect(retryAfterOf(new Headers(headers as Record<string, string>), now)).toBe(expected);
  });

  it.each([
    ["Please try again in 20s.", 20_000],
    ["Please try again in 1m30.5s.", 90_500],
    ["try again in 120ms", 120],
    ["retry after 5 seconds", 5_000],
    ["resets in 2 min", 120_000],
    ["resets in 1 hour, 5 minutes", 3_900_000],
    [`{"retry-after":"7"}`, 7_000],
    [`{"@type":"RetryInfo","retryDelay":"35s"}`, 35_000],
    ["Retry-After: Wed, 21 Oct 2026 07:28:20 GMT", 20_000],
    ["try again in a moment", null],
    ["nothing of the kind, 5 s", null],
  ])("is read from the text %s", (text, expected) => {
    expect(retryAfterIn(text, now)).toBe(expected);
  });
});
