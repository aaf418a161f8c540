import { UserError } from "../../../src/foundation/errors.ts";
import type { AgentHosts } from "../../../src/foundation/contracts/run-hosts.ts";
import { sharedBrowser } from "./open-page.ts";
import { withDetail } from "./with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

function host(name: string, change: Partial<AgentHosts["denied"][number]> = {}) {
  const lastAt = new Date(Date.now() - 90_000).toISOString();
  const denied = { denied: "not_allowed", attempts: 3, lastAt, entry: name } as const;
  return { host: name, port: 443, ...denied, ...change };
}

function withHosts(...denied: AgentHosts["denied"]) {
  const deps = withDetail();
  deps.operations.deniedHosts = denied;
  return deps;
}

test("denied hosts have their reason, count and last time; only hosts that an entry helps can be allowed", async () => {
  const attack = `<img src=x onerror="window.hacked=true">`;
  const deps = withHosts(
    host("api.evil.test"),
    host("db.lan", { port: 5432, denied: "private_address", entry: "db.lan:5432 private" }),
    host("late.test", { entry: null, attempts: 1 }),
    host("down.test", { denied: "unreachable", entry: null }),
    host(attack, { port: 0, denied: "malformed", entry: null }),
  );
  const { page, errors } = await open(path, deps);
  const rows = page.locator("#hosts-list li");
  await expect.poll(() => rows.count()).toBe(5);
  const texts = await rows.allInnerTexts();
  expect(texts[0]).toMatch(/api\.evil\.test\s+is not in \[network\]\.allow · 3 times · 1 min ago/);
  expect(texts[1]).toMatch(/db\.lan:5432\s+has an address in a private network only/);
  expect(texts[2]).toMatch(/once · 1 min ago\s+allowed by now$/);
  expect(texts[3]).toMatch(/can't be reached · 3 times · 1 min ago$/);
  expect(await rows.getByRole("button").count()).toBe(2);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("a host is allowed after its line was shown", async () => {
  const { page, deps } = await open(path, withHosts(host("db.lan", { port: 5432 })));
  const { calls } = deps.operations;
  await page.getByRole("button", { name: "Allow for this agent … db.lan:5432" }).click();
  const dialog = page.locator("#allow-dialog");
  await expect.poll(() => dialog.innerText()).toContain('+allow = [ "db.lan:5432" ]');
  expect(await dialog.innerText()).toContain("agents/dev/config.toml");
  expect(calls.filter((call) => call.startsWith("allowHost"))).toEqual([
    "allowHost dev db.lan 5432 false true",
  ]);
  await page.getByRole("button", { name: "Write it" }).click();
  await expect.poll(() => page.locator("#hosts-list").innerText()).toContain("allowed by now");
  expect(calls.at(-1)).toBe("allowHost dev db.lan 5432 false false");
  expect(await dialog.isVisible()).toBe(false);
});

test("a refused Allow is shown; no dialog opens", async () => {
  const { page, deps } = await open(path, withHosts(host("api.evil.test")));
  deps.operations.refusal = new UserError("invalid_config", "the file has an error");
  await page.getByRole("button", { name: /^Allow for this agent … api/ }).click();
  await expect.poll(() => page.locator(".toast").innerText()).toContain("the file has an error");
  expect(await page.locator("#allow-dialog").isVisible()).toBe(false);
});

test("without denied hosts the page says so; of many it shows some; nothing is wider than a phone", async () => {
  const { page, deps } = await open(path, withHosts());
  const note = page.locator("#hosts-note");
  await expect.poll(() => note.innerText()).toBe("No requests were denied in the last 30 days.");
  deps.operations.deniedHosts = Array.from({ length: 30 }, (_, n) =>
    host(`${"a-very-long-name.".repeat(8)}h${n}.test`),
  );
  deps.operations.setAgent({ name: "dev", running: 1, state: "running" });
  await expect.poll(() => page.locator("#hosts-list li").count()).toBe(20);
  expect(await note.innerText()).toBe("and 10 more");
  await page.setViewportSize({ width: 375, height: 800 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
});
