import { aRunView } from "../../../../helpers/run-view.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ada } from "../../people-states.ts";
import { busyState, instance } from "../../page-states.ts";
import { untilLive } from "../../shows.ts";

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

test("the page Audit shows new acts, and has filters and pages in the address", async () => {
  const { page, deps, errors, shows, press } = await open("/dashboard/audit", busyState());
  await untilLive(page);
  await shows({ "#acts tr": 50 });
  await press("Older");
  await shows({ "#acts tr": 11 });
  await page.goto(page.url().replace(/\?.*/, "?act=pause"));
  await page.getByText("No act meets these filters.").waitFor();
  deps.operations.context.audit.recordAct({ act: "pause" }, ada);
  deps.operations.emit({ changed: ["audit"] });
  await shows({ "#acts tr": 1 });
  await page.getByLabel("Act", { exact: true }).selectOption("raise");
  await shows({ "#acts tr": 30 });
  await page.waitForURL(/\?act=raise$/);
  expect(errors).toEqual([]);
});

test("the page Audit reads the acts again only after an update that names them", async () => {
  const { page, url, deps, shows } = await open("/dashboard/tokens", busyState());
  let reads = 0;
  page.on("request", (request) => void (reads += request.url().includes("/api/audit") ? 1 : 0));
  await page.clock.install();
  await page.goto(`${url}/dashboard/audit`);
  await expect.poll(() => reads).toBe(1);
  await page.clock.fastForward(5_000);
  deps.operations.setScheduler({ paused: true });
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.clock.fastForward(5_000);
  deps.operations.context.audit.recordAct({ act: "logout" }, ada);
  deps.operations.emit({ changed: ["audit"] });
  await shows({ "#acts tr >> nth=0": /logout/ });
  expect(reads).toBe(2);
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
