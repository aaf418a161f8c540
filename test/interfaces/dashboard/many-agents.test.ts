import { expect, test } from "vitest";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const agents = Array.from({ length: 10_000 }, (_, n) => ({
  name: `agent-${String(n).padStart(4, "0")}`,
}));

test("of thousands of agents the first are in the table, and the filter finds the others", async () => {
  const deps = testDeps({ operations: fakeOperations(agents) });
  const { page } = await open("/dashboard", deps);
  const rows = page.locator("tbody#agents tr");
  await expect.poll(() => rows.count()).toBe(500);
  expect(await page.locator("#counts").textContent()).toBe("10,000 agents");
  const more = page.locator("#more-agents");
  expect(await more.textContent()).toBe(
    "These are the first 500 of 10,000 agents. Filter to find the others.",
  );
  await page.locator("#select-all").check();
  expect(await page.locator("#bulk-count").textContent()).toBe("500 agents selected");
  await page.locator("#agent-filter").fill("agent-99");
  await expect.poll(() => rows.count()).toBe(100);
  expect(await more.isHidden()).toBe(true);
  deps.operations.setAgent({ name: "agent-9907", statusText: "thinking" });
  await expect
    .poll(() => page.locator("tr[data-agent=agent-9907]").innerText())
    .toContain("thinking");
});
