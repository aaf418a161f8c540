import { expect, test } from "vitest";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

test("warnings are shown: the project's above the table, an agent's in its row and on its page", async () => {
  const warning = 'config.toml model "claude" can\'t be used: credential anthropic_key is missing';
  const deps = testDeps({ operations: fakeOperations([{ name: "dev", warning }]) });
  const warnings = ["agents/a is not an agent", "agents/b is not an agent"];
  deps.operations.setScheduler({ warnings });
  const { page } = await open("/dashboard", deps);
  const status = page.locator("tr[data-agent=dev] td.status");
  await expect.poll(() => status.innerText()).toBe(warning);
  const ofProject = page.locator("#config-warnings");
  await expect.poll(() => ofProject.innerText()).toBe(warnings.join("\n"));
  deps.operations.setAgent({ name: "dev", warning, statusText: "done" });
  await expect.poll(() => status.innerText()).toBe(`done\n${warning}`);
  await page.getByRole("link", { name: "dev", exact: true }).click();
  await expect.poll(() => page.locator("#agent-warning").innerText()).toBe(warning);
  deps.operations.setScheduler({ warnings: [] });
  deps.operations.setAgent({ name: "dev", warning: null });
  await expect.poll(() => page.locator("#agent-warning").isVisible()).toBe(false);
  await expect.poll(() => ofProject.isVisible()).toBe(false);
});
