import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ada } from "../../people-states.ts";

const open = sharedBrowser();

test("the page Audit lists who did what, without a script, and leads to the run", async () => {
  const deps = testDeps();
  const about = { agent: "dev", instanceId: "dev-abcdefgh" };
  deps.operations.context.audit.recordAct(
    { act: "approve", ...about, detail: "once\u202E (host a.test)" },
    ada,
  );
  const { page, url, shows } = await open("/dashboard/audit", deps);
  const html = await (await page.context().request.get(`${url}/dashboard/audit`)).text();
  expect(html).toContain("Ada via Slack");
  await shows({
    "#acts tr": [
      / dashboard from 127\.0\.0\.1 login$/,
      / Ada via Slack approve dev-abcdefgh once\[U\+202E\] \(host a\.test\)$/,
    ],
    "#acts a@href": "/dashboard/agents/dev/runs/dev-abcdefgh",
  });
});
