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
