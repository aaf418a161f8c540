import type { LockStatus } from "../../../../streams/status/wire.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { sharedBrowser } from "../open-page.ts";

const open = sharedBrowser();

function withAgents() {
  return testDeps({ operations: fakeOperations([{ name: "writer" }, { name: "reviewer" }]) });
}

function claim(agent: string, resource = "demo:notes", held = true): LockStatus {
  const since = new Date(Date.now() - 90_000).toISOString();
  const expiresAt = held ? new Date(Date.now() + 29.5 * 60_000).toISOString() : null;
  return { resource, agent, instanceId: `${agent}-abcdefgh`, held, since, expiresAt };
}

test("locks appear and disappear on the overview by themselves, and keep the focus meanwhile", async () => {
  const { page, deps, shows } = await open("/dashboard", withAgents());
  await shows({ "#connection-text": "Live", "#locks": false });
  deps.operations.setClaim(claim("writer"));
  await page.locator("#locks").getByRole("link", { name: "writer-abcdefgh" }).focus();
  deps.operations.setClaim(claim("writer", "a:first"));
  await shows({ "#locks-list li": [/^a:first/, /^demo:notes/], ":focus": "writer-abcdefgh" });
  for (const resource of ["demo:notes", "a:first"]) {
    deps.operations.endClaim(claim("writer", resource));
  }
  await shows({ "#locks": false });
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
  await expect.poll(places).toBe(before);
});

test("an agent's page shows the locks that its runs hold and wait for, and their holders", async () => {
  const deps = withAgents();
  deps.operations.setClaim(claim("writer"));
  const { shows } = await open("/dashboard/agents/reviewer", deps);
  await shows({ "#connection-text": "Live", "#locks": false });
  deps.operations.setClaim(claim("reviewer", "demo:notes", false));
  await shows({ "#locks-list li": [/^demo:notes held by writer-.* waited for by reviewer-/] });
  deps.operations.endClaim(claim("writer"));
  deps.operations.setClaim(claim("reviewer"));
  await shows({ "#locks-list li": [/^demo:notes held by reviewer-.* expires in 29 min$/] });
  deps.operations.endClaim(claim("reviewer"));
  await shows({ "#locks": false });
});
