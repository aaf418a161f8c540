import { expect, test } from "vitest";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

test("a row shows what its agent spent today, and its running runs of it", async () => {
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const deps = testDeps({
    operations: fakeOperations([
      { name: "dev", spentToday: { usd: 1.25, endsAt } },
      { name: "new" },
    ]),
  });
  const { page } = await open("/dashboard", deps);
  const cost = page.locator("tr[data-agent=dev] td.cost-today");
  await expect.poll(() => cost.innerText()).toBe("$1.25");
  expect(await page.locator("tr[data-agent=new] td.cost-today").innerText()).toBe("–");
  const spent = { running: 1, runningUsd: 0.05, spentToday: { usd: 1.3, endsAt } };
  deps.operations.setAgent({ name: "dev", ...spent });
  await expect.poll(() => cost.innerText()).toMatch(/^\$1\.30\s+now \$0\.05$/);
});
