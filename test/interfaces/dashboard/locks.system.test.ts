import type { LockStatus } from "../../../streams/status/wire.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const attack = `x:"><img/src=x/onerror="window.hacked=true">`;

function withAgents() {
  return testDeps({ operations: fakeOperations([{ name: "writer" }, { name: "reviewer" }]) });
}

function claim(agent: string, resource = "demo:notes", held = true): LockStatus {
  const since = new Date(Date.now() - 90_000).toISOString();
  const expiresAt = held ? new Date(Date.now() + 29.5 * 60_000).toISOString() : null;
  return { resource, agent, instanceId: `${agent}-abcdefgh`, held, since, expiresAt };
}

test("the overview shows held locks, with their holder, times and waiting runs", async () => {
  const { page, deps, errors } = await open("/dashboard", withAgents());
  const section = page.getByRole("region", { name: "Locks" });
  await page.waitForSelector("body[data-connection=live]");
  expect(await section.count()).toBe(0);
  deps.operations.setClaim(claim("writer"));
  deps.operations.setClaim(claim("reviewer", "demo:notes", false));
  await expect
    .poll(() => section.innerText())
    .toMatch(/demo:notes\s+held by writer-abcdefgh since 1 min ago\s+expires in 29 min/);
  expect(await section.innerText()).toContain("waited for by reviewer-abcdefgh");
  expect(await page.getByRole("link", { name: "1 lock held" }).isVisible()).toBe(true);
  const holder = section.getByRole("link", { name: "writer-abcdefgh" });
  expect(await holder.getAttribute("href")).toBe("/dashboard/agents/writer/runs/writer-abcdefgh");
  await holder.focus();
  deps.operations.setClaim(claim("reviewer", attack));
  deps.operations.setClaim(claim("writer", "a:first"));
  await expect.poll(() => section.locator("li").count()).toBe(3);
  expect(await section.innerText()).toContain(attack);
  await expect
    .poll(() => page.evaluate("document.activeElement.textContent"))
    .toBe("writer-abcdefgh");
  await page.setViewportSize({ width: 360, height: 700 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  for (const resource of ["demo:notes", "a:first"]) {
    deps.operations.endClaim(claim("writer", resource));
  }
  deps.operations.endClaim(claim("reviewer", attack));
  await expect.poll(() => section.count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("locks that appear and disappear move nothing else on the overview", async () => {
  const { page, deps } = await open("/dashboard", withAgents());
  await page.waitForSelector("#agents tr");
  const places = () =>
    page.evaluate(
      `JSON.stringify([...document.querySelectorAll("main > :not(#locks)")].map((part) => part.getBoundingClientRect()))`,
    );
  const before = await places();
  deps.operations.setClaim(claim("writer"));
  await page.locator("#locks").waitFor();
  expect(await places()).toBe(before);
});

test("an agent's page shows the locks that its runs hold and wait for, and their holders", async () => {
  const deps = withAgents();
  deps.operations.setClaim(claim("writer"));
  const { page, errors } = await open("/dashboard/agents/reviewer", deps);
  const section = page.getByRole("region", { name: "Locks" });
  await page.waitForSelector("body[data-connection=live]");
  expect(await section.count()).toBe(0);
  deps.operations.setClaim(claim("reviewer", "demo:notes", false));
  deps.operations.setClaim(claim("reviewer", attack));
  await expect
    .poll(() => section.innerText())
    .toMatch(/demo:notes\s+held by writer-abcdefgh since 1 min ago[^]*waited for by reviewer-/);
  expect(await section.innerText()).toContain(`${attack}\nheld by reviewer-abcdefgh`);
  deps.operations.endClaim(claim("writer"));
  deps.operations.setClaim(claim("reviewer"));
  await expect
    .poll(() => section.innerText())
    .toMatch(/demo:notes\s+held by reviewer-abcdefgh since .*\s+expires in 29 min/);
  deps.operations.endClaim(claim("reviewer"));
  deps.operations.endClaim(claim("reviewer", attack));
  await expect.poll(() => section.count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});
