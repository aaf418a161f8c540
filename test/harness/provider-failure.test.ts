import { describe, expect, it } from "vitest";
import { providerFailure } from "../../src/harness/provider-failure.ts";

describe("a provider's failure", () => {
  it.each([
    [`429: {"error":{"message":"slow down"}}`, "429 slow down", 60_000],
    [
      `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
      "529 Overloaded",
      60_000,
    ],
    ["Connection error.", "Connection error.", 60_000],
    ["503", "503", 60_000],
    ["500 status code (no body)", "500 status code (no body)", 60_000],
    [`401: {"error":{"message":"Incorrect API key"}}`, "401 Incorrect API key", null],
    [`400: {"message":"connection field is wrong"}`, "400 connection field is wrong", null],
    ["403 not json {", "403 not json {", null],
    ["the model made no sense", "the model made no sense", null],
  ])("%s is told as %s", (text, message, cooldownMs) => {
    expect(providerFailure(text)).toEqual({ message, cooldownMs });
  });

  it.each([
    ["429 try again in 20s", 20_000],
    ["429 Please try again in 1m30.5s.", 90_500],
    ["429 retry after 5 seconds", 5_000],
    [`429: {"error":{"message":"x"},"retry-after":"7"}`, 7_000],
    ["429 resets in 2 min", 120_000],
    ["429 try again in 120ms", 60_000],
    ["429 try again in 99999 s", 3_600_000],
    ["429 retry-after: 0", 1_000],
  ])("%s is waited for as long as it says, within reason", (text, cooldownMs) => {
    expect(providerFailure(text).cooldownMs).toBe(cooldownMs);
  });

  it("never hands on a page of text", () => {
    expect(providerFailure(`502 <html>${"x".repeat(100_000)}`).message.length).toBeLessThan(2100);
  });
});
