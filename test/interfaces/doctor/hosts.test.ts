import { openStore } from "../../../src/features/open-store.ts";
import { ward } from "./support.ts";

const dayMs = 86_400_000;

test("the doctor warns of hosts that were denied to runs until its fix allows them", async () => {
  const found = () => ward.found("hosts");
  expect(await found()).toEqual([]);
  let now = Date.now() - 40 * dayMs;
  const store = openStore(ward.dir, () => now);
  const one = { instanceId: "dev-1", agent: "dev", port: 443, detail: "", bytesOut: 0, bytesIn: 0 };
  store.hosts.add({ ...one, host: "long-ago.test", denied: "not_allowed" });
  await store.hosts.flush();
  now = Date.now();
  for (const host of ["api.evil.test", "api.evil.test", "api.github.com"]) {
    store.hosts.add({ ...one, host, denied: "not_allowed" });
  }
  store.hosts.add({ ...one, host: "down.test", denied: "unreachable" });
  store.hosts.add({ ...one, host: "fine.test", denied: null });
  await store.hosts.flush();
  store.close();
  const findings = await found();
  expect(findings).toMatchObject([
    {
      severity: "warning",
      what: "dev asked for api.evil.test 2 times in 30 days and was denied it",
      where: "agents/dev/config.toml [network]",
    },
  ]);
  await ward.fix(findings[0]);
  expect(await found()).toEqual([]);
});
