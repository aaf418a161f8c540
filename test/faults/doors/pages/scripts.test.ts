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
  { name: "the overview", path: "/dashboard", marks: 6 },
  { name: "an agent's page", path: "/dashboard/agents/dev", marks: 10 },
  { name: "why an agent did not run", path: "/dashboard/agents/dev?tab=why", marks: 9 },
  { name: "an agent's config", path: "/dashboard/agents/dev?tab=config", marks: 20 },
  { name: "an agent's instructions", path: "/dashboard/agents/dev?tab=instructions", marks: 10 },
  { name: "an agent's log", path: "/dashboard/agents/dev/logs", marks: 30 },
  { name: "the search", path: "/dashboard/search?q=x", marks: 5 },
  { name: "the trigger history", path: "/dashboard/triggers", marks: 12 },
  { name: "the cost page", path: "/dashboard/cost", marks: 4 },
  { name: "the page of alerts", path: "/dashboard/alerts", marks: 8 },
])("no untrusted text runs on a page: $name", async ({ path, marks }) => {
  const deps = poisonedDeps(new Poison());
  const { page, errors } = await open(path, deps);
  await page.evaluate(() =>
    Object.assign(globalThis, { hack: () => Object.assign(globalThis, { hacked: true }) }),
  );
  await expect.poll(() => page.locator("body").textContent()).toMatch(/§\d+§/);
  await page.evaluate(unfold);
  await pause(300, "a script that got in would have run");
  const seen = new Set(((await page.locator("body").textContent()) ?? "").match(/§\d+§/g));
  expect(seen.size).toBeGreaterThanOrEqual(marks);
  expect(await page.evaluate(hurt)).toEqual(harmless);
  // Where the policy had to step in, a text was taken for markup.
  expect(errors).toEqual([]);
});
