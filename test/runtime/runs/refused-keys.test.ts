import { createRefusedKeys } from "../../../src/runtime/runs/refused-keys.ts";
import { aModelConfig } from "../../helpers/agents.ts";

const claude = aModelConfig({
  name: "claude",
  provider: "anthropic",
  authType: "oauth_token",
  credential: "anthropic_key:team",
});
const other = aModelConfig({ name: "other", provider: "google", credential: "google_key" });
const hour = 3_600_000;
const setupToken = "Renew it: claude setup-token, then al creds add anthropic_key:team";

test.each([
  [claude, 401, "OAuth token has expired", 0, setupToken, Infinity],
  [claude, 401, "OAuth token has been revoked", 0, setupToken, Infinity],
  [other, 401, "invalid x-api-key", 0, "Renew it: al creds add google_key", Infinity],
  [other, 400, "API key not valid", 0, "Renew it: al creds add google_key", Infinity],
  [claude, 429, "You've hit your session limit · resets 3:50pm", hour, "3:50pm", hour],
  [claude, 429, "slow down", 60_000, null, 0],
  [other, 401, "who are you?", 0, null, 0],
  [other, 400, "invalid request: temperature", 0, null, 0],
  [other, 503, "invalid upstream", 0, null, 0],
] as const)(
  "row %#: a key is refused until another one is stored, or the named time",
  (model, status, message, wait, text, until) => {
    let now = 0;
    const keys = createRefusedKeys(() => now);
    const failure = { kind: "fallback", message, retryAfterMs: wait } as const;
    expect(keys.take(model, "old", status, failure)).toBe(text !== null);
    expect(keys.refusalOf(model, "old")?.reason ?? null).toEqual(
      text === null ? null : expect.stringContaining(text),
    );
    expect(keys.refusalOf(model, "new")).toBeNull();
    now = Math.min(until, 1e9);
    expect(keys.refusalOf(model, "old") === null).toBe(until !== Infinity);
  },
);
