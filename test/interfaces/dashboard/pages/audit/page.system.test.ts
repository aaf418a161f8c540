import { aRunView } from "../../../../helpers/run-view.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ada } from "../../people-states.ts";
import { busyState, instance } from "../../page-states.ts";

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
  expect(html).toContain("Ada by Slack");
  await shows({
    "#acts tr": [
      / dashboard from 127\.0\.0\.1 login$/,
      / Ada by Slack approve dev-abcdefgh once\[U\+202E\] \(host a\.test\)$/,
    ],
    "#acts a@href": "/dashboard/agents/dev/runs/dev-abcdefgh",
  });
});

test("the run's page says who acted on the run, and leads to the acts", async () => {
  const deps = busyState();
  const acts = ["kill", "trigger"] as const;
  const run = aRunView(instance, {
    acts: acts.map((act, id) => ({
      id,
      act,
      agent: "dev",
      instanceId: instance,
      detail: "",
      by: ada,
      at: new Date().toISOString(),
    })),
  });
  deps.operations.runs.set(instance, run);
  const { shows } = await open(`/dashboard/agents/dev/runs/${instance}`, deps);
  await shows({
    "a:text-is('trigger: Ada by Slack, kill: Ada by Slack')@href": `/dashboard/audit?instance=${instance}`,
  });
});
