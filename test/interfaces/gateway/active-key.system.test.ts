import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureApiKey, regenerateApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { activeKey } from "../../../src/interfaces/gateway/active-key.ts";
import { openSessions } from "../../../src/interfaces/gateway/sessions.ts";

async function setUp() {
  const home = mkdtempSync(join(tmpdir(), "al-key-"));
  const warnings: string[] = [];
  const sessions = openSessions({ home, onProblem: (text) => warnings.push(text) });
  const apiKey = await ensureApiKey(home);
  const redactor = createRedactor();
  const follow = () => {
    const keys = activeKey({ home, apiKey, sessions, redactor, warn: (t) => warnings.push(t) });
    const changes: string[] = [];
    const subscription = keys.change$.subscribe((text) => changes.push(text));
    onTestFinished(() => subscription.unsubscribe());
    return { ...keys, changes };
  };
  onTestFinished(() => {
    sessions.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { home, sessions, apiKey, redactor, warnings, follow };
}

test("a regenerated key is active without a restart, and all sessions have ended", async () => {
  const { home, sessions, apiKey, redactor, follow } = await setUp();
  const keys = follow();
  const token = sessions.create();
  const ended: string[] = [];
  sessions.ended$.subscribe((id) => ended.push(id));
  expect(keys.key()).toBe(apiKey.key);
  const { key } = await regenerateApiKey(home);
  await expect.poll(() => keys.key()).toBe(key);
  expect(keys.changes).toHaveLength(1);
  expect(sessions.touch(token)).toBeNull();
  expect(ended).toHaveLength(1);
  expect(redactor.redact(`key ${key}`)).toBe("key [redacted]");
});

test("a touched file changes nothing", async () => {
  const { apiKey, sessions, follow } = await setUp();
  const keys = follow();
  const token = sessions.create();
  writeFileSync(apiKey.path, `${apiKey.key}\n`);
  await sleep(1_500);
  expect(keys.changes).toEqual([]);
  expect(sessions.touch(token)).not.toBeNull();
});

test("the old key stays if its file is missing or invalid, with one warning", async () => {
  const { home, apiKey, warnings, follow } = await setUp();
  const keys = follow();
  rmSync(apiKey.path);
  await sleep(1_200);
  expect([keys.key(), keys.changes, warnings]).toEqual([apiKey.key, [], []]);
  writeFileSync(apiKey.path, "short\n", { mode: 0o600 });
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toContain("holds no usable key");
  await sleep(1_200);
  expect([keys.key(), warnings.length]).toEqual([apiKey.key, 1]);
  const { key } = await regenerateApiKey(home);
  await expect.poll(() => keys.key()).toBe(key);
});

test("a key that others could read is ignored until that is repaired", async () => {
  const { apiKey, warnings, follow } = await setUp();
  const keys = follow();
  const key = "another-key-of-enough-length";
  writeFileSync(apiKey.path, key);
  chmodSync(apiKey.path, 0o644);
  await expect.poll(() => warnings.join()).toContain("open to other users");
  chmodSync(apiKey.path, 0o600);
  await expect.poll(() => keys.key()).toBe(key);
});

test("a new key is active while another process holds the sessions, which end once it releases them", async () => {
  const { home, sessions, warnings, follow } = await setUp();
  const keys = follow();
  const token = sessions.create();
  const other = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const { key } = await regenerateApiKey(home);
  await expect.poll(() => warnings.join()).toContain("database is locked");
  expect([keys.key(), keys.changes]).toEqual([key, []]);
  other.exec("ROLLBACK");
  await expect.poll(() => keys.changes).toHaveLength(1);
  expect(sessions.touch(token)).toBeNull();
});
