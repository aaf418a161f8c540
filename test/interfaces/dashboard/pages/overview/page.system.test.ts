import { Problem } from "../../../../../src/foundation/errors.ts";
import { createGateway } from "../../../../../src/interfaces/gateway/server.ts";
import { fakeOperations } from "../../../../helpers/fake-operations.ts";
import { startTcp, testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ago } from "../../page-states.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();

function withAgents(...agents: Parameters<typeof fakeOperations>[0] & object) {
  return testDeps({ operations: fakeOperations(agents) });
}

test("a row of the overview is updated in place: focus and selection stay", async () => {
  const { page, deps, shows } = await open("/dashboard", withAgents());
  await shows({ "#empty h2": "No agents yet" });
  deps.operations.setAgent({ name: "dev" });
  await shows({ "#empty h2": "First steps" });
  await page.getByRole("button", { name: "Run dev", exact: true }).focus();
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector(".agent-name"))`);
  deps.operations.setAgent({ name: "dev", state: "running", statusText: "thinking" });
  await shows({ "tr[data-agent=dev]": /thinking/ });
  deps.operations.setAgent({ name: "cat" });
  await shows({ "tr[data-agent]": [/dev/, /cat/], ":focus@aria-label": "Run dev" });
  await expect.poll(() => page.evaluate(`String(getSelection())`)).toBe("dev");
  deps.operations.removeAgent("cat");
  await shows({ "tr[data-agent]": 1 });
});

test("a running agent shows its own time, not the end of the run before", async () => {
  const row = "tr[data-agent=dev] td";
  const ran = { name: "dev", lastRunAt: ago(55), lastDurationMs: 1234 };
  const deps = withAgents({ ...ran, lastOutcome: "failed", running: 1, state: "running" });
  const { shows } = await open("/dashboard", deps);
  await shows({ [`${row}.duration`]: /^5\d s$/, [`${row}.last-run`]: /\d\d:\d\d$/ });
  deps.operations.setAgent({ ...ran, running: 0, state: "error" });
  await shows({ [`${row}.last-run`]: /failed/, [`${row}.duration`]: "1.2 s" });
});

test("the overview links a run that it started, and undoes a Disable", async () => {
  const { page, shows, press, calledOnly } = await open("/dashboard");
  await press(/^Run dev$/);
  await shows({
    ".toast": /Started dev/,
    ".toast a@href": "/dashboard/agents/dev/runs/dev-abcdefgh",
    "tr[data-agent=dev] .pill >> nth=0": "running",
  });
  await press("Disable dev");
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await calledOnly(/^(trigger|setEnabled)/, [
    "trigger dev null",
    "setEnabled dev false",
    "setEnabled dev true",
  ]);
  await shows({ ".toast:has-text('Undo')": 0 });
});

test("the first steps are ticked, and go when the agent has run and has a model or a webhook", async () => {
  const { deps, shows } = await open(
    "/dashboard",
    withAgents({ name: "hello", models: ["scripted"] }),
  );
  await shows({ "#empty .done": 0, "#empty code": 3 });
  deps.operations.setAgent({ name: "hello", lastRunAt: ago(5) });
  await shows({ "#empty .done": /^Run hello done/ });
  deps.operations.setScheduler({ webhookSources: ["github"] });
  await shows({ "#empty": false });
});

test("each figure of the overview links to the agents or the page that it counts, and each hour's column names its runs", async () => {
  const spentToday = { usd: 1.5, endsAt: ago(-9_000) };
  const deps = withAgents({ name: "dev", state: "error", spentToday }, { name: "cat" });
  const { operations } = deps;
  const hour = { succeeded: 0, failed: 0, other: 0 };
  operations.hours = [
    { ...hour, at: ago(7_200), succeeded: 12 },
    { ...hour, at: ago(3_600), succeeded: 2, failed: 3, other: 1 },
  ];
  const day = { scope: "project", window: "2026-11-22", endsAt: ago(-9_000), usd: 2 };
  const limits = [{ ...day, limit: 50, reserved: 0 }];
  operations.spending.set("day", { rows: [], limits, forecast: null });
  operations.setScheduler({ questions: 2 });
  const { shows } = await open("/dashboard", deps);
  await shows({
    "#health a.stat": ["1 failing", "2 waiting for you", "0 running", "$2.00 of $50.00 today"],
    "#health a.stat@href": [
      "/dashboard?state=error",
      "/dashboard/questions",
      "/dashboard?state=running",
      "/dashboard/cost",
    ],
    "#hours figcaption": "Last 24 h: 14 succeeded, 3 failed, 1 other",
    "#hours title": [/: 12 succeeded, 0 failed$/, /: 2 succeeded, 3 failed, 1 other$/],
    "#hours rect.failed": 1,
  });
  operations.hours = [{ ...hour, at: ago(60), failed: 1 }];
  operations.emit({ changed: ["triggers"] });
  await shows({ "#hours figcaption": "Last 24 h: 0 succeeded, 1 failed" });
});

test("a repeated rejection is shown once, and covers no button", async () => {
  const agents = Array.from({ length: 20 }, (_, index) => ({ name: `agent-${index}` }));
  const { page, deps, shows } = await open("/dashboard", withAgents(...agents));
  const button = page.getByRole("button", { name: "Run agent-1", exact: true });
  const asked = () => deps.operations.calls.filter((call) => call.startsWith("trigger"));
  for (let press = 1; press <= 3; press++) {
    deps.operations.refusal = new Problem("disabled", "not now");
    await button.click();
    await expect.poll(asked).toHaveLength(press);
  }
  await shows({ ".toast": /not now/ });
  const toast = await page.locator(".toast").boundingBox();
  const pressed = await button.boundingBox();
  expect((toast?.x ?? 0) + (toast?.width ?? 0)).toBeLessThan(pressed?.x ?? 0);
});

test("Recent Activity shows no line twice after a reconnect or a restart", async () => {
  const deps = testDeps();
  const first = createGateway(deps);
  const url = (await first.listenTcp()).replace("localhost", "127.0.0.1");
  const port = Number(new URL(url).port);
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
  for (const msg of lines(1, 15)) deps.operations.addLog({ msg });
  const { shows } = await open("/dashboard", deps, url);
  const showsNewest = (from: number, to: number) =>
    shows({ "#activity .activity-text": lines(from, to).reverse() });
  await showsNewest(1, 15);

  await first.close();
  deps.operations.addLog({ msg: "line 16" });
  const again = createGateway({ ...deps, port });
  await again.listenTcp();
  await showsNewest(1, 16);

  await again.close();
  const operations = fakeOperations([{ name: "dev" }]);
  operations.setScheduler({ startedAt: "2099-01-01T00:00:00.000Z" });
  // It begins with the lines of the one before, and came past the number that the page saw last.
  for (const msg of lines(4, 25)) operations.addLog({ msg });
  await startTcp({ ...deps, context: operations.context, port });
  await showsNewest(6, 25);
  operations.addLog({ msg: "line 26" });
  await showsNewest(7, 26);
});

test("a logout in one tab sends the other to the login page", async () => {
  const { page, url } = await open("/dashboard");
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard`);
  await untilLive(other);
  await page.getByRole("link", { name: "Logout" }).click();
  await page.waitForURL(`${url}/login`);
  await other.waitForURL(`${url}/login?next=%2Fdashboard`);
  await other.close();
});
