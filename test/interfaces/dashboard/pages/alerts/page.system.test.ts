import { aTarget } from "../../../../helpers/fake-alerts.ts";
import { withAlerts } from "../../broken-state.ts";
import { sharedBrowser } from "../../open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/alerts";
const rows = "#deliveries tr";

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

test("on the page Alerts, an open alert can be acknowledged or snoozed, and an acknowledgement taken back", async () => {
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
