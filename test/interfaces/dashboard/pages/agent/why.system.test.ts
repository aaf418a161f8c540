import { emptyWhyNot } from "../../../../helpers/empty-why-not.ts";
import { aSkippedTick } from "../../broken-state.ts";
import { sharedBrowser } from "../../open-page.ts";

const open = sharedBrowser();

test("a reason why an agent did not run appears on its page by itself", async () => {
  const { deps, shows } = await open("/dashboard/agents/dev?tab=why");
  await shows({ "#why-note": /^Nothing triggered it/ });
  deps.operations.setAgent({ name: "dev", nextRunAt: "2099-12-01T12:00:00.000Z" });
  await shows({ "#why-note": /^It was not due\. Next run: \w{3}, Dec 1, 2099, \d\d:\d\d\.$/ });
  deps.operations.whyNots.set("dev", { ...emptyWhyNot, refused: [aSkippedTick("a", 1)] });
  deps.operations.setAgent({ name: "dev" });
  await shows({ "#why-list": /all runners are busy/, "#why-note": false });
});

test("missed runs are started from an agent's page, after it has listed them", async () => {
  const firstAt = "2026-03-01T09:00:00.000Z";
  const { deps, shows, press, calledOnly } = await open("/dashboard/agents/dev?tab=why");
  await shows({ "#run-missed": false });
  const span = { schedule: "", since: firstAt, until: null, firstAt, count: 3, reason: "paused" };
  deps.operations.whyNots.set("dev", { ...emptyWhyNot, spans: [span] });
  deps.operations.setAgent({ name: "dev" });
  await shows({ "#why-list": /3 times/ });
  await press("Run missed runs …");
  await shows({ "#missed-dialog li": /Mar 1.* · missed: asleep$/ });
  await press("Start 1 run");
  await shows({ ".toast": /1 missed run will start/ });
  const called = [true, false].map((isDry) => `backfill dev ${firstAt} ${isDry}`);
  await calledOnly(/^backfill/, called);
});
