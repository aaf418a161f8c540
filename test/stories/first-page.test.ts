import { cp, rename, rm } from "node:fs/promises";
import type { Page } from "playwright-core";
import { openBrowser, whyNoBrowser } from "../helpers/browser.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import { nearFullMinute } from "../helpers/scheduler.ts";
import { shows, type Shown } from "../interfaces/dashboard/shows.ts";

const config = "agents/hello/config.toml";

describe.skipIf(whyNoBrowser() !== null)("the dashboard of examples/hello in a browser", () => {
  let project: LiveProject;
  let page: Page;

  forAll(async () => {
    const browser = await openBrowser();
    page = await browser.newPage();
    project = await LiveProject.copy("examples/hello");
    // On a busy machine the schedule is due during the run by hand.
    await project.edit(config, "timeout = 120", "timeout = 120\nscale = 2");
    const { dashboardUrl, apiKey } = await project.start({ env: nearFullMinute(10) });
    await page.goto(dashboardUrl);
    await page.getByLabel("API key").fill(apiKey);
    await page.keyboard.press("Enter");
    return browser;
  });
  afterAll(() => page.context().browser()?.close());

  /** Waits until the row of an agent shows this, by column. */
  const row = (agent: string, expected: Shown) =>
    shows(
      page,
      Object.fromEntries(
        Object.entries(expected).map(([column, value]) => [
          `tr[data-agent="${agent}"] .${column}`,
          value,
        ]),
      ),
    );

  test("shows a run from the press of its button to its end", async () => {
    await row("hello", { state: /idle/ });
    await page.getByRole("button", { name: "Run hello", exact: true }).click();
    await row("hello", { state: /running/ });
    await row("hello", { state: /idle/, "last-run": /succeeded/ });
  });

  test("shows a scheduled run in the agent's log, with its text, tools and tokens", async () => {
    await page.getByRole("button", { name: "More of hello" }).click();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await shows(page, {
      "[role=log]":
        /run started manually.*run started by its schedule.*bash date.*Hello from your first agent.*\d+ tokens.*run succeeded/,
    });
    await page.goto(project.scheduler.dashboardUrl);
  });

  test("follows the folder of agents: one that is copied, renamed into place, broken, or removed", async () => {
    for (const copy of ["agents/second", "draft"])
      await cp(project.path("agents/hello"), project.path(copy), { recursive: true });
    await rename(project.path("draft"), project.path("agents/third"));
    await project.write("agents/broken/config.toml", "models = [\n");
    await row("second", { state: /idle/ });
    await row("third", { state: /idle/ });
    await row("broken", { state: /error/ });
    await rm(project.path("agents/second"), { recursive: true });
    await shows(page, { 'tr[data-agent="second"]': 0, 'tr[data-agent="hello"]': 1 });
  });
});
