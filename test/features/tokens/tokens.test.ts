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
  const warn = (message: string) => void warnings.push(message);
  const make = () =>
    createTokens({ store: store.tables(createTokenStore), now: () => clock.now, warn });
  const tokens = make();
  return {
    ...tokens,
    /** Tokens as the next scheduler has them. */
    make,
    clock,
    store,
    warnings,
    create: (name: string, given: object = {}) =>
      tokens.create(newTokenSchema.parse({ name, scopes: ["read"], ...given })),
  };
}

test("a new API token is stored as its hash, with scopes, agents and 90 days", async () => {
  const dir = tempDir();
  const { create, use, list, make, store } = opened(tempStore(dir));
  const scopes = ["read", "trigger", "read"];
  const { token } = await create("claude", { scopes, agents: ["dev", "dev"] });
  expect(token).toMatch(/^al_[\w-]{43}$/);
  for (const check of [use, make().use]) {
    expect(check(token)).toMatchObject({
      name: "claude",
      scopes: ["read", "trigger"],
      agents: ["dev"],
      expiresAt: start + 90 * dayMs,
    });
    expect([check(`${token}x`), check(token.slice(3))]).toEqual([null, null]);
  }
  await store.settings.recordAlive(1);
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  onTestFinished(() => db.close());
  for (const stored of [db.prepare("SELECT * FROM tokens").all(), list()]) {
    expect(JSON.stringify(stored)).toContain("claude");
    expect(JSON.stringify(stored)).not.toContain(token.slice(3, 20));
  }
});

test("an expired API token stays in the list until a new one with the same name replaces it", async () => {
  const { create, use, list, clock } = opened();
  const { token } = await create("ci", { days: 1 });
  await expect(create("ci")).rejects.toThrow('There is a token "ci" already.');
  clock.now += dayMs - 1;
  expect(use(token)).not.toBeNull();
  clock.now += 1;
  expect(use(token)).toBeNull();
  expect(list().tokens).toMatchObject([{ name: "ci", expired: true }]);
  const next = await create("ci");
  expect(list().tokens).toMatchObject([{ name: "ci", expired: false, lastUsedAt: null }]);
  expect(use(token)).toBeNull();
  expect(use(next.token)).not.toBeNull();
});

test("checking an API token stores its last use at most once a minute, without delaying the request", async () => {
  const { create, use, list, make, clock, store } = opened();
  const { token } = await create("ci");
  const lastUse = (tokens: Pick<ReturnType<typeof opened>, "list"> = make()) =>
    tokens.list().tokens[0]?.lastUsedAt?.slice(11, 19);
  const stored = async () => {
    await store.settings.recordAlive(1);
    return lastUse();
  };
  use(token);
  expect(lastUse()).toBeUndefined();
  expect(await stored()).toBe("08:00:00");
  clock.now += 59_000;
  use(token);
  expect([lastUse({ list }), await stored()]).toEqual(["08:00:59", "08:00:00"]);
  clock.now += 1_000;
  use(token);
  expect(await stored()).toBe("08:01:00");
});

test("at most 100 API tokens are stored", async () => {
  const { create, remove } = opened();
  const names = Array.from({ length: tokenLimits.tokens }, (_, n) => `t${n}`);
  await Promise.all(names.map((name) => create(name)));
  await expect(create("more")).rejects.toMatchObject({ code: "too_many_tokens" });
  await remove("t7");
  await expect(create("more")).resolves.toMatchObject({ name: "more" });
});

test("removing an API token rejects it at once and ends the event streams opened with it", async () => {
  const { create, remove, use, end$, make } = opened();
  const { token } = await create("ci");
  const other = await create("other");
  const ended: string[] = [];
  for (const each of [token, other.token]) {
    const subscription = end$(each).subscribe(() => ended.push(each));
    onTestFinished(() => subscription.unsubscribe());
  }
  await remove("ci");
  expect(ended).toEqual([token]);
  expect([use(token), make().use(token)]).toEqual([null, null]);
  await expect(remove("ci")).rejects.toMatchObject({ code: "unknown_token", status: 404 });
});

test("an API token removed while the store is read-only is refused at once, and the removal is stored later", async () => {
  const { create, remove, use, make, store, warnings } = opened();
  const { token } = await create("ci");
  const db = store.tables((opened) => ({ run: (sql: string) => opened.exec(sql) }));
  db.run("PRAGMA query_only = 1");
  const removal = remove("ci");
  expect(use(token)).toBeNull();
  await expect(removal).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(/^The API token ci is refused from now on\./) as string,
  });
  expect(make().use(token)).not.toBeNull();
  db.run("PRAGMA query_only = 0");
  await expect.poll(() => make().use(token)).toBeNull();
  expect(warnings).toEqual([expect.stringContaining("if the scheduler restarts before it is")]);
});

test("an event stream ends within a second after its API token expires", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { create, end$, clock } = opened();
  const { token } = await create("ci", { days: 1 });
  let ended = 0;
  const follow = () => end$(token).subscribe(() => (ended += 1));
  const first = follow();
  vi.advanceTimersByTime(60_000);
  expect(ended).toBe(0);
  clock.now += dayMs;
  vi.advanceTimersByTime(1_000);
  expect(ended).toBe(1);
  first.unsubscribe();
  follow().unsubscribe();
  expect(ended).toBe(2);
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
])("creating an API token with %j is rejected", (wrong) => {
  expect(newTokenSchema.safeParse({ name: "ci", scopes: ["read"], ...wrong }).success).toBe(false);
});
