import { sharedBrowser } from "../open-page.ts";

const open = sharedBrowser();

test("the dialog of Pause pauses schedules alone by default, and Resume resumes", async () => {
  const { page, press, shows, calledOnly } = await open("/dashboard");
  await press("Pause the scheduler");
  await page.getByRole("radio", { name: "Schedules only", checked: true }).waitFor();
  await page.keyboard.press("Enter");
  await shows({ "#scheduler-state": "schedules paused" });
  await press("Resume the scheduler");
  await shows({ "#scheduler-state": "active" });
  await calledOnly(/Paused/, ["setPaused true", "setPaused false"]);
});

test("by keys, the dialog of Pause stops all new work and kills the runs, and later kills them alone", async () => {
  const { page, deps, shows, press, calledOnly } = await open("/dashboard");
  deps.operations.setScheduler({ running: 7 });
  await page.getByRole("button", { name: "Pause the scheduler" }).press("Enter");
  await page.getByRole("radio", { name: "Schedules only" }).press("ArrowDown");
  await page.getByRole("radio", { name: "All new work", checked: true }).press("ArrowDown");
  await page
    .getByRole("button", { name: "Stop everything and kill 7 running runs" })
    .press("Enter");
  await shows({
    "#paused": /^All new work paused (now|\d+ s ago)\./,
    "#announcer": "All new work paused, 7 running runs killed",
  });
  deps.operations.setScheduler({ running: 2 });
  await page.locator("#paused").getByRole("button", { name: "Kill running runs" }).click();
  await press("Kill 2 running runs");
  await calledOnly(/Paused|kill/, ["setPaused true work", "killAll", "killAll"]);
});
