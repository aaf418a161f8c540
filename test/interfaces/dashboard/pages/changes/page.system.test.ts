import { sharedBrowser } from "../../open-page.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();

test("two runs of one version show no change, and a deleted run responds 404", async () => {
  const deps = withDetail();
  const version = { hash: "b".repeat(32), commit: null, dirty: null };
  const [from, to] = ["dev-cccccccc", "dev-dddddddd"].map((id) => ({ instanceId: id, version }));
  if (from && to)
    deps.operations.differences.set(to.instanceId, { from, to, changed: false, text: "" });
  const { page, url, shows } = await open("/dashboard/agents/dev/runs/dev-dddddddd/changes", deps);
  await shows({ "#same": /the same config/, ".changes": 0 });
  const gone = await page.goto(`${url}/dashboard/agents/dev/runs/dev-zzzzzzzz/changes`);
  expect(gone?.status()).toBe(404);
  await shows({ h1: "Nothing here" });
});
