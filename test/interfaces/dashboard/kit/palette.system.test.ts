import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { axeFindings } from "../axe.ts";
import { sharedBrowser } from "../open-page.ts";
import { untilLive } from "../shows.ts";

const open = sharedBrowser();
const options = "#palette-list li";

function withAgents() {
  const error = { state: "error", error: "exit 1" } as const;
  const names = ["sync-docs", "sync-web", "triage"];
  const agents = names.map((name) => ({ name, ...(name === "sync-web" ? error : {}) }));
  return testDeps({ operations: fakeOperations(agents) });
}

test("Ctrl+K lists agents with their states, pages and actions, and Escape gives the focus back", async () => {
  const { page, shows } = await open("/dashboard/cost", withAgents());
  await untilLive(page);
  await page.getByRole("link", { name: "Logout" }).focus();
  await page.keyboard.press("Control+k");
  await shows({
    [`${options} >> nth=1`]: "sync-web error",
    [`${options} >> nth=3`]: "Agents g a",
    ":focus@role": "combobox",
    ":focus@aria-activedescendant": "place-0",
  });
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("ArrowUp");
  await shows({ ":focus@aria-activedescendant": "place-11" });
  await page.keyboard.press("Escape");
  await shows({ "#palette[open]": 0, ":focus": "Logout" });
});

test.each([
  ["web", "/dashboard/agents/sync-web"],
  ["log sync-d", "/dashboard/agents/sync-docs/logs"],
  ["sync-web-abcdefgh", "/dashboard/agents/sync-web/runs/sync-web-abcdefgh"],
  ["quest", "/dashboard/questions"],
  ["exit 3 & more", "/dashboard/search?q=exit%203%20%26%20more"],
])("Ctrl+K, %s and Enter lead to %s", async (query, path) => {
  const { page, url } = await open("/dashboard/cost", withAgents());
  await page.keyboard.press("Control+k");
  await page.keyboard.type(query);
  await page.keyboard.press("Enter");
  await page.waitForURL(url + path);
});

test("Ctrl+K runs and disables an agent, and asks before it stops everything", async () => {
  const { page, deps, shows, press, calledOnly } = await open("/dashboard", withAgents());
  deps.operations.setScheduler({ running: 1 });
  await untilLive(page);
  for (const query of ["run tri", "disable sync-docs"]) {
    await press(/^Jump to/);
    await page.keyboard.type(query);
    await page.keyboard.press("Enter");
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("stop every");
  await page.keyboard.press("Enter");
  await shows({ "#pause-dialog[open] input:checked": 1 });
  await page.getByRole("radio", { name: "Stop everything", checked: true }).waitFor();
  await press("Stop everything and kill 1 running run");
  await calledOnly(/^(trigger|set|kill)/, [
    "trigger triage null",
    "setEnabled sync-docs false",
    "setPaused true work",
    "killAll",
  ]);
});
