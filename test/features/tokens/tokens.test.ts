import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { tokenLimits } from "../../../src/foundation/contracts/scopes.ts";
import { newTokenSchema } from "../../../src/features/tokens/token-report.ts";
import { createTokenStore } from "../../../src/features/tokens/token-store.ts";
import { createTokens } from "../../../src/features/tokens/tokens.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const dayMs = 86_400_000;
const start = Date.parse("2026-11-22T08:00:00Z");

function opened(store: Store = tempStore(), clock = { now: start }) {
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const make = () =>
    createTokens({ store: store.tables(createTokenStore), now: () => clock.now, warn });
  const ask = (name: string, given: object = {}) =>
    newTokenSchema.parse({ name, scopes: ["read"], ...given });
  return { tokens: make(), make, ask, clock, store, warnings };
}

test("stores the hash of a token, its scopes, agents and 90 days", async () => {
  const dir = tempDir();
  const { tokens, make, ask, store } = opened(tempStore(dir));
  const scopes = ["read", "trigger", "read"];
  const { token } = await tokens.create(ask("claude", { scopes, agents: ["dev", "dev"] }));
  expect(token).toMatch(/^al_[\w-]{43}$/);
  const expected = { name: "claude", scopes: ["read", "trigger"], agents: ["dev"] };
  for (const each of [tokens, make()]) {
    expect(each.use(token)).toMatchObject({ ...expected, expiresAt: start + 90 * dayMs });
    expect(each.use(`${token}x`)).toBeNull();
    expect(each.use(token.slice(3))).toBeNull();
  }
  await store.settings.recordAlive(1);
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  onTestFinished(() => db.close());
  const text = JSON.stringify(db.prepare("SELECT * FROM tokens").all());
  expect(text).toContain("claude");
  expect(text).not.toContain(token.slice(3, 20));
  expect(JSON.stringify(tokens.list())).not.toContain(token.slice(3, 20));
});

test("expires, stays in the list, and is replaced by a new one of its name", async () => {
  const { tokens, ask, clock } = opened();
  const { token } = await tokens.create(ask("ci", { days: 1 }));
  await expect(tokens.create(ask("ci"))).rejects.toThrow('There is a token "ci" already.');
  clock.now += dayMs - 1;
  expect(tokens.use(token)).not.toBeNull();
  clock.now += 1;
  expect(tokens.use(token)).toBeNull();
  expect(tokens.list().tokens).toMatchObject([{ name: "ci", expired: true }]);
  const next = await tokens.create(ask("ci"));
  expect(tokens.list().tokens).toMatchObject([{ name: "ci", expired: false, lastUsedAt: null }]);
  expect(tokens.use(token)).toBeNull();
  expect(tokens.use(next.token)).not.toBeNull();
});

test("the token check writes the last use of a token once a minute, after the request went on", async () => {
  const { tokens, make, ask, clock, store } = opened();
  const { token } = await tokens.create(ask("ci"));
  const stored = async () => {
    await store.settings.recordAlive(1);
    return make().list().tokens[0]?.lastUsedAt;
  };
  tokens.use(token);
  expect(make().list().tokens[0]?.lastUsedAt).toBeNull();
  expect(await stored()).toBe("2026-11-22T08:00:00.000Z");
  clock.now += 59_000;
  tokens.use(token);
  expect(tokens.list().tokens[0]?.lastUsedAt).toBe("2026-11-22T08:00:59.000Z");
  expect(await stored()).toBe("2026-11-22T08:00:00.000Z");
  clock.now += 1_000;
  tokens.use(token);
  expect(await stored()).toBe("2026-11-22T08:01:00.000Z");
});

test("stores at most 100 tokens", async () => {
  const { tokens, ask } = opened();
  const names = Array.from({ length: tokenLimits.tokens }, (_, n) => `t${n}`);
  await Promise.all(names.map((name) => tokens.create(ask(name))));
  await expect(tokens.create(ask("more"))).rejects.toMatchObject({ code: "too_many_tokens" });
  await tokens.remove("t7");
  await expect(tokens.create(ask("more"))).resolves.toMatchObject({ name: "more" });
});

test("a removed token and its streams end at once", async () => {
  const { tokens, make, ask } = opened();
  const { token } = await tokens.create(ask("ci"));
  const other = await tokens.create(ask("other"));
  const ended: string[] = [];
  const subscriptions = [token, other.token].map((each) =>
    tokens.end$(each).subscribe(() => ended.push(each)),
  );
  onTestFinished(() => subscriptions.forEach((one) => one.unsubscribe()));
  await tokens.remove("ci");
  expect(ended).toEqual([token]);
  expect(tokens.use(token)).toBeNull();
  expect(make().use(token)).toBeNull();
  await expect(tokens.remove("ci")).rejects.toMatchObject({ code: "unknown_token", status: 404 });
});

test("a removed token is refused while the store is read-only, and its removal is stored later", async () => {
  const { tokens, make, ask, store, warnings } = opened();
  const { token } = await tokens.create(ask("ci"));
  const db = store.tables((opened) => ({ run: (sql: string) => opened.exec(sql) }));
  db.run("PRAGMA query_only = 1");
  const removal = tokens.remove("ci");
  expect(tokens.use(token)).toBeNull();
  await expect(removal).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(/^The API token ci is refused from now on\./) as string,
  });
  expect(make().use(token)).not.toBeNull();
  db.run("PRAGMA query_only = 0");
  await expect.poll(() => make().use(token)).toBeNull();
  expect(warnings).toEqual([expect.stringContaining("a restart before it is makes")]);
});

test("a stream ends within a second of its token's expiry, at once if that has passed", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { tokens, ask, clock } = opened();
  const { token } = await tokens.create(ask("ci", { days: 1 }));
  let ended = 0;
  const first = tokens.end$(token).subscribe(() => (ended += 1));
  vi.advanceTimersByTime(60_000);
  expect(ended).toBe(0);
  clock.now += dayMs;
  vi.advanceTimersByTime(1_000);
  expect(ended).toBe(1);
  first.unsubscribe();
  const second = tokens.end$(token).subscribe(() => (ended += 1));
  expect(ended).toBe(2);
  second.unsubscribe();
});

test.each([
  { name: "Claude" },
  { name: "" },
  { scopes: [] },
  { scopes: ["all"] },
  { agents: [] },
  { days: 0 },
  { days: tokenLimits.maxDays + 1 },
  { hash: "x" },
])("the token check rejects a token with %j", (wrong) => {
  expect(newTokenSchema.safeParse({ name: "ci", scopes: ["read"], ...wrong }).success).toBe(false);
});
