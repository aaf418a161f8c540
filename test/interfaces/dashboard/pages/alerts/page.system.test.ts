import { aDelivery, aTarget } from "../../../../helpers/fake-alerts.ts";
import { withAlerts } from "../../broken-state.ts";
import { sharedBrowser } from "../../open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/alerts";
const rows = "#deliveries tr";

test("the page of alerts copies the command that stores a target's address", async () => {
  const { page, press } = await open(path);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await press("Copy: Command");
  await expect
    .poll(() => page.evaluate("navigator.clipboard.readText()"))
    .toBe("al creds add slack_webhook");
});

test("a test alert goes to one target, and its rejection is shown with the reason", async () => {
  const { deps, shows, press, calledOnly } = await open(path, withAlerts());
  const { alerting } = deps.operations;
  alerting.answer = { accepted: false, error: "HTTP 404: no_service" };
  await press("Send a test to ops");
  await shows({ ".toast": /ops did not accept the test: HTTP 404: no_service/ });
  alerting.answer = { accepted: true, error: null };
  alerting.targets = alerting.targets.map(({ name }) => aTarget(name));
  await press("Send a test to chat");
  await shows({ "#targets tr >> nth=1": "chat slack ok 0 0 Accepted ✓", "#off": false });
  await calledOnly(/^test/, ["testAlertTarget ops", "testAlertTarget chat"]);
});

test("deliveries of one alert to several targets are one row, with a link to its agent", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const [first = aDelivery(1)] = alerting.deliveries;
  const twin = { ...aDelivery(7, { target: "chat", state: "dead", attempts: 8 }), at: first.at };
  alerting.deliveries = [{ ...first, lastError: "HTTP 503" }, twin, aDelivery(2)];
  const { shows } = await open(path, deps);
  await shows({
    [rows]: [
      "1 min ago dev failed run exited with code 1 ops waiting in 29 min HTTP 503 chat dead after 8 attempts Retry",
      /^2 min ago/,
    ],
    "#deliveries .what >> nth=0 >> a:text-is('dev')@href": "/dashboard/agents/dev",
  });
});

test("an open alert is acknowledged, snoozed and reminded of again", async () => {
  const { page, press, shows, calledOnly } = await open(path, withAlerts());
  const [runs, config] = ["#open tr >> nth=0", "#open tr >> nth=1"] as const;
  await press("Acknowledge: runs fail of dev");
  await shows({ [runs]: /exited with code 1 acknowledged by the dashboard \S/ });
  await page.getByRole("combobox", { name: "Snooze: config is invalid" }).selectOption("1 hour");
  await shows({ [config]: /1 h ago snoozed by the dashboard until (.+, )?\d\d:\d\d/ });
  await press("Remind again: runs fail of dev");
  await shows({ [runs]: /exited with code 1 Acknowledge/ });
  const from = 'acknowledgeAlerts {"by":"the dashboard","agent":';
  await calledOnly(/^acknowledge/, [
    `${from}"dev","topic":"runs"}`,
    expect.stringContaining(`${from}null,"topic":"config","until":"`),
    `${from}"dev","topic":"runs","undo":true}`,
  ]);
});

test("one delivery is retried at a click, all dead ones only after a confirmation", async () => {
  const { page, deps, shows, press, calledOnly } = await open(path, withAlerts());
  const id = deps.operations.alerting.deliveries[2]?.id ?? "";
  await press("Retry cat failed to ops");
  await shows({ [`${rows} >> nth=2`]: /waiting/, "#retry-all": "Retry the dead one" });
  deps.operations.setScheduler({ alerts: { open: 2, dead: 1_200 } });
  await shows({ "#retry-all": "Retry all 1,200 dead" });
  await page.locator("#retry-all").click();
  await shows({ "#retry-all": "Send them again?" });
  await calledOnly(/^retry/, [`retryAlert ${id}`]);
  await page.locator("#retry-all").click();
  await calledOnly(/^retry/, [`retryAlert ${id}`, "retryDeadAlerts"]);
  deps.operations.setScheduler({ alerts: { open: 2, dead: 0 } });
  await shows({ "#retry-all": false });
});

test("the filters and the page of deliveries are in the address", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const older = Array.from({ length: 120 }, (_, index) => aDelivery(10 + index));
  alerting.deliveries = [...alerting.deliveries, ...older];
  const { page, url, shows, press } = await open(path, deps);
  await shows({ [rows]: 50 });
  await press("Older →");
  await page.waitForURL(`${url}${path}?before=${older[45]?.id ?? ""}`);
  await shows({ "#place": "Page 2" });
  await press("Older →");
  await shows({ [rows]: 24 });
  await page.getByLabel("State").selectOption("dead");
  await page.waitForURL(`${url}${path}?state=dead`);
  await shows({ [rows]: 1 });
  await page.getByRole("combobox", { name: "Target" }).fill("chat");
  await page.keyboard.press("Enter");
  await shows({ "#deliveries-none": "No delivery meets these filters." });
  await page.goBack();
  await shows({ [rows]: 1 });
  await press("Clear filters");
  await page.waitForURL(url + path);
  await shows({ [rows]: 50 });
});

test("the page of alerts is live: alerts appear at once, and waiting deliveries when sent", async () => {
  const { deps, shows } = await open(path, withAlerts());
  await shows({ [rows]: 4 });
  const { alerting } = deps.operations;
  alerting.deliveries = [aDelivery(0, { title: "new failed" }), ...alerting.deliveries];
  deps.operations.setScheduler({ alerts: { open: 3, dead: 1 } });
  await shows({ [`${rows} >> nth=0`]: /new failed/ });
  alerting.deliveries = alerting.deliveries.map((one) => ({ ...one, state: "sent" }));
  deps.operations.emit({ changed: ["alerts"] });
  await shows({ [`${rows}:has-text("waiting"), ${rows}:has-text("dead")`]: 0 });
});

test("the page of alerts fits a phone with any text", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const long = "a-name-without-a-place-to-break".repeat(4);
  const since = new Date().toISOString();
  alerting.targets = [
    aTarget(long, { state: "off", lastError: long, dead: 12_345, offSince: since }),
  ];
  alerting.open = [
    { agent: long, topic: "credentials", since, count: 99, reason: long, ack: null },
  ];
  alerting.deliveries = [
    aDelivery(1, { target: long, title: long, reason: long, state: "dead", lastError: long }),
  ];
  const { page, shows } = await open(path, deps);
  await page.setViewportSize({ width: 375, height: 800 });
  await shows({ [rows]: 1, "#targets .pill": true });
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(375);
});
