import { openStore } from "../../../src/features/open-store.ts";
import type { EgressAttempt } from "../../../src/foundation/contracts/network-allow.ts";
import { deniedTo } from "../../../src/foundation/store/run-hosts.ts";
import { readBeside } from "../../../src/foundation/store/read-beside.ts";
import { tempStore } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const dayMs = 86_400_000;

function attempt(host: string, change: Partial<EgressAttempt> = {}): EgressAttempt {
  return {
    instanceId: "dev-1",
    agent: "dev",
    host,
    port: 443,
    denied: null,
    detail: "",
    bytesOut: 0,
    bytesIn: 0,
    ...change,
  };
}

const denied = (host: string, change: Partial<EgressAttempt> = {}) =>
  attempt(host, { denied: "not_allowed", detail: "no", ...change });

test("connections to a host are one row with their bytes, and denied ones come first", async () => {
  let now = 1_000;
  const { hosts } = tempStore(undefined, () => now);
  hosts.add(attempt("api.allowed.test", { bytesOut: 10, bytesIn: 2 ** 40 }));
  hosts.add(denied("api.evil.test"));
  await hosts.flush();
  now = 2_000;
  hosts.add(attempt("api.allowed.test", { bytesOut: 5, bytesIn: 1 }));
  hosts.add(attempt("api.allowed.test", { instanceId: "dev-2", bytesOut: 99 }));
  hosts.add(attempt("api.allowed.test", { port: 22 }));
  await hosts.flush();
  const at = (ms: number) => new Date(ms).toISOString();
  const none = { connections: 1, bytesOut: 0, bytesIn: 0 };
  expect(hosts.of("dev-1")).toEqual([
    { host: "api.evil.test", port: 443, denied: "not_allowed", ...none, lastAt: at(1_000) },
    { host: "api.allowed.test", port: 22, denied: null, ...none, lastAt: at(2_000) },
    {
      host: "api.allowed.test",
      port: 443,
      denied: null,
      connections: 2,
      bytesOut: 15,
      bytesIn: 2 ** 40 + 1,
      lastAt: at(2_000),
    },
  ]);
});

test("many connections of runs are one commit, a second later or at the end", async () => {
  const dir = tempDir();
  const store = openStore(dir);
  for (let n = 0; n < 5_000; n += 1) store.hosts.add(attempt("api.allowed.test"));
  expect(store.hosts.of("dev-1")).toEqual([]);
  await expect.poll(() => store.hosts.of("dev-1")).toMatchObject([{ connections: 5_000 }]);
  store.hosts.add(denied("api.evil.test"));
  store.close();
  const later = tempStore(dir);
  expect(later.hosts.of("dev-1")).toHaveLength(2);
});

test("a run has 200 denied hosts at most and 200 others, in one commit or in many", async () => {
  const { hosts } = tempStore();
  for (let n = 0; n < 1_000; n += 1) {
    hosts.add(denied(`h${n}.evil.test`));
    if (n % 150 === 0) await hosts.flush();
  }
  await hosts.flush();
  hosts.add(attempt("api.allowed.test"));
  hosts.add(denied("h0.evil.test"));
  await hosts.flush();
  const stored = hosts.of("dev-1");
  expect(stored.filter((one) => one.denied !== null)).toHaveLength(200);
  expect(stored.find(({ host }) => host === "h0.evil.test")).toMatchObject({ connections: 2 });
  expect(stored.at(-1)).toMatchObject({ host: "api.allowed.test", denied: null });
});

test("denied connections of an agent are added up over its runs, also for a reader beside the scheduler", async () => {
  let now = 40 * dayMs;
  const dir = tempDir();
  const { hosts } = tempStore(dir, () => now);
  hosts.add(denied("old.evil.test"));
  await hosts.flush();
  now = 80 * dayMs;
  hosts.add(denied("api.evil.test"));
  hosts.add(denied("api.evil.test", { instanceId: "dev-2" }));
  hosts.add(denied("api.evil.test", { denied: "unreachable" }));
  hosts.add(denied("other.evil.test", { agent: "ops", instanceId: "ops-1" }));
  hosts.add(attempt("api.allowed.test"));
  await hosts.flush();
  const lastAt = new Date(now).toISOString();
  const expected = [
    { host: "api.evil.test", port: 443, denied: "not_allowed", attempts: 2, lastAt },
    { host: "api.evil.test", port: 443, denied: "unreachable", attempts: 1, lastAt },
  ];
  const byReason = (one: { readonly denied: string }, other: { readonly denied: string }) =>
    one.denied.localeCompare(other.denied);
  expect([...hosts.deniedTo("dev", 50 * dayMs)].sort(byReason)).toEqual(expected);
  const beside = readBeside(dir, (db) => deniedTo(db, "dev", 50 * dayMs), []);
  expect([...beside].sort(byReason)).toEqual(expected);
  expect(hosts.deniedTo("dev", 0)).toHaveLength(3);
});

test("the hosts of runs are deleted with the history", async () => {
  let now = 10 * dayMs;
  const store = tempStore(undefined, () => now);
  for (let n = 0; n < 150; n += 1) {
    store.hosts.add(denied(`h${n}.evil.test`));
    store.hosts.add(denied(`h${n}.evil.test`, { instanceId: "dev-2" }));
  }
  await store.hosts.flush();
  now = 30 * dayMs;
  store.hosts.add(denied("young.evil.test"));
  await store.hosts.flush();
  expect(await store.prune({ now, days: 14, maxBytes: 1e12 })).toBe(300);
  expect(store.hosts.of("dev-1")).toMatchObject([{ host: "young.evil.test" }]);
  expect(store.hosts.of("dev-2")).toEqual([]);
});
