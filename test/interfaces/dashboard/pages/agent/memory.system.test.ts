import { agent } from "../../gallery.ts";
import { sharedBrowser } from "../../open-page.ts";
import { busyState } from "../../page-states.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();

test("a version of the memory is restored after a look at the difference, and becomes the latest one", async () => {
  const { page, press, shows, called } = await open(`${agent}?tab=memory`, busyState());
  await untilLive(page);
  await press("Restore version 1 …");
  const dialog = page.locator("#restore-dialog[open]");
  await expect.poll(() => dialog.locator(".removed").allInnerTexts()).toContain('-  "seen": 3');
  await dialog.getByRole("button", { name: "Restore" }).click();
  await called("restore dev 1");
  await shows({ "#versions strong": ["Version 4", "Version 3", "Version 2", "Version 1"] });
  await shows({ "#memory-files code": ["state.json"] });
});

test("the tab leads from the agent's own memory to those that it shares, and the browser's history back", async () => {
  const deps = busyState();
  const detail = deps.operations.details.get("dev");
  const shared = [{ name: "team", isWriter: false, maxBytes: 1, maxFileBytes: 1 }];
  const memory = {
    maxBytes: 1,
    maxFileBytes: 1,
    schema: {},
    untrusted: "read",
    trusted: [],
  } as const;
  if (detail?.config) {
    const config = { ...detail.config, memory: { ...memory, shared } };
    deps.operations.details.set("dev", { ...detail, config });
  }
  const { page, shows } = await open(`${agent}?tab=memory`, deps);
  await untilLive(page);
  await page.getByRole("link", { name: "shared/team" }).click();
  await shows({ "#memory-files code": ["facts.md"] });
  expect(new URL(page.url()).search).toBe("?tab=memory&of=shared%2Fteam");
  await page.goBack();
  await shows({ "#versions strong": ["Version 3", "Version 2", "Version 1"] });
});
