import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

test("by keys, the dialog of Pause pauses all new work and kills the runs, and later kills them alone", async () => {
  const { page, deps } = await open("/dashboard");
  const { calls } = deps.operations;
  deps.operations.setScheduler({ running: 7 });
  await page.getByRole("button", { name: "Pause the scheduler" }).press("Enter");
  await page.getByRole("radio", { name: "Schedules only" }).press("ArrowDown");
  await page.getByRole("checkbox", { name: "Also kill 7 running runs" }).press("Space");
  await page.getByRole("button", { name: "Pause and kill 7 running runs" }).press("Enter");
  const notice = page.locator("#paused");
  await expect.poll(() => notice.innerText()).toMatch(/^All new work was paused (now|\d+ s ago)\./);
  await expect
    .poll(() => page.locator("#announcer").innerText())
    .toBe("All new work paused, 7 running runs killed");
  deps.operations.setScheduler({ running: 2 });
  await notice.getByRole("button", { name: "Kill running runs" }).click();
  await page.getByRole("button", { name: "Kill 2 running runs" }).click();
  const ofPause = () => calls.filter((call) => /Paused|kill/.test(call));
  await expect.poll(ofPause).toEqual(["setPaused true work", "killAll", "killAll"]);
});
