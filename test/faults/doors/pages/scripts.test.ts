import { sharedBrowser } from "../../../interfaces/dashboard/open-page.ts";
import { Poison } from "./poison.ts";
import { poisonedDeps } from "./poisoned-deps.ts";
import { pause } from "../../../helpers/pause.ts";

const open = sharedBrowser();

/** What a page would be with a text of somebody else's in it that became more than text. */
const hurt = `({
  ran: globalThis.hacked === true,
  elements: [...document.querySelectorAll("[data-evil], iframe, object, embed, base")].map((each) => each.outerHTML),
  handlers: [...document.querySelectorAll("*")].flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on")),
  links: [...document.querySelectorAll("[href], [action], [formaction], [src]")]
    .flatMap((each) => ["href", "action", "formaction", "src"].map((name) => each.getAttribute(name) ?? ""))
    .filter((address) => !/^(https?|mailto|data):$/.test(new URL(address, location.href).protocol)),
})`;
/** Opens what can be opened, so that all texts are there. */
const unfold = `document
  .querySelectorAll("summary, button[aria-expanded=false]")
  .forEach((each) => each.click())`;
const harmless = { ran: false, elements: [], handlers: [], links: [] };

test.each([
  ["the overview", "/dashboard", 6],
  ["an agent's page", "/dashboard/agents/dev", 10],
  ["why an agent did not run", "/dashboard/agents/dev?tab=why", 9],
  ["an agent's config", "/dashboard/agents/dev?tab=config", 20],
  ["an agent's instructions", "/dashboard/agents/dev?tab=instructions", 10],
  ["an agent's log", "/dashboard/agents/dev/logs", 30],
  ["the search", "/dashboard/search?q=x", 5],
  ["the trigger history", "/dashboard/triggers", 12],
  ["the cost page", "/dashboard/cost", 4],
  ["the page of alerts", "/dashboard/alerts", 8],
])("no script in untrusted text runs on a dashboard page: %s", async (_name, path, marks) => {
  const deps = poisonedDeps(new Poison());
  const { page } = await open(path, deps);
  await page.evaluate(() =>
    Object.assign(globalThis, { hack: () => Object.assign(globalThis, { hacked: true }) }),
  );
  await expect.poll(() => page.locator("body").textContent()).toMatch(/§\d+§/);
  await page.evaluate(unfold);
  await pause(300, "a script that got in would have run");
  const seen = new Set(((await page.locator("body").textContent()) ?? "").match(/§\d+§/g));
  expect(seen.size).toBeGreaterThanOrEqual(marks);
  expect(await page.evaluate(hurt)).toEqual(harmless);
});
