import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ensureApiKey, regenerateApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { activeKey } from "../../../src/interfaces/gateway/active-key.ts";
import { openSessions } from "../../../src/interfaces/gateway/sessions.ts";
import { pause } from "../../helpers/pause.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A followed key; its file is polled while a test waits. */
async function setUp() {
  const home = tempDir();
  const warnings: string[] = [];
  const sessions = openSessions({ home, onProblem: (text) => warnings.push(text) });
  const apiKey = await ensureApiKey(home);
  const redactor = createRedactor();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const keys = activeKey({ home, apiKey, sessions, redactor, warn: (t) => warnings.push(t) });
  const changes: string[] = [];
  const subscription = keys.change$.subscribe((text) => changes.push(text));
  onTestFinished(() => {
    subscription.unsubscribe();
    vi.useRealTimers();
    sessions.close();
  });
  /** What `read` returns after one more poll. */
  const polled = <T>(read: () => T) =>
    expect.poll(() => {
      vi.advanceTimersByTime(1_000);
      return read();
    });
  const pollWithoutEvent = async () => {
    vi.advanceTimersByTime(1_000);
    await pause(50, "a poll that ignores the file must not end sessions");
  };
  return { ...keys, home, sessions, apiKey, redactor, warnings, changes, polled, pollWithoutEvent };
}

test("a regenerated API key is active without a restart, and all sessions have ended", async () => {
  const { home, key, apiKey, sessions, redactor, changes, polled } = await setUp();
  const token = sessions.create();
  const ended: string[] = [];
  sessions.ended$.subscribe((id) => ended.push(id));
  expect(key()).toBe(apiKey.key);
  const { key: next } = await regenerateApiKey(home);
  await polled(() => changes).toHaveLength(1);
  expect([key(), ended.length, sessions.touch(token)]).toEqual([next, 1, null]);
  expect(redactor.redact(`key ${next}`)).toBe("key [redacted]");
});

test("a touched API key file ends no session", async () => {
  const { apiKey, sessions, changes, pollWithoutEvent } = await setUp();
  const token = sessions.create();
  writeFileSync(apiKey.path, `${apiKey.key}\n`);
  await pollWithoutEvent();
  expect(changes).toEqual([]);
  expect(sessions.touch(token)).not.toBeNull();
});

test("the old key stays if its file is missing or invalid, with one warning", async () => {
  const { home, key, apiKey, warnings, changes, polled, pollWithoutEvent } = await setUp();
  rmSync(apiKey.path);
  await pollWithoutEvent();
  expect([key(), changes, warnings]).toEqual([apiKey.key, [], []]);
  writeFileSync(apiKey.path, "short\n", { mode: 0o600 });
  await polled(() => warnings).toEqual([expect.stringContaining("contains no usable key")]);
  await pollWithoutEvent();
  expect([key(), warnings.length]).toEqual([apiKey.key, 1]);
  const { key: next } = await regenerateApiKey(home);
  await polled(key).toBe(next);
});

test("an API key that others could read is ignored until its file is private", async () => {
  const { key, apiKey, warnings, polled } = await setUp();
  writeFileSync(apiKey.path, "another-key-of-enough-length");
  chmodSync(apiKey.path, 0o644);
  await polled(() => warnings.join()).toContain("open to other users");
  chmodSync(apiKey.path, 0o600);
  await polled(key).toBe("another-key-of-enough-length");
});

test("a new key is active while another process holds the sessions, which end once it releases them", async () => {
  const { home, key, sessions, warnings, changes, polled } = await setUp();
  const token = sessions.create();
  const other = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const { key: next } = await regenerateApiKey(home);
  await polled(() => warnings.join()).toContain("database is locked");
  expect([key(), changes]).toEqual([next, []]);
  other.exec("ROLLBACK");
  await polled(() => changes).toHaveLength(1);
  expect(sessions.touch(token)).toBeNull();
});
