import type { Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { commandAgents, ownUser } from "../helpers/command-agents.ts";
import { forAll, slowly, type LiveProject } from "../helpers/live-project.ts";
import { openQuestions } from "./asking-project.ts";
import { perFile } from "../helpers/per-test.ts";

let project: LiveProject;

/** One agent asks, one was approved to call another, one was told something, one was killed. */
forAll(async () => {
  project = await commandAgents(() => ({
    asker: `al-ask "Deploy 1.4?" --choice yes --choice no --timeout 24h`,
    caller: "echo hi | al-subagent other",
    other: "true",
    sleeper: "sleep 600",
  }));
  await project.append("agents/caller/config.toml", '\n[approve]\nagents = ["other"]\n');
  await project.append(
    "config.toml",
    '\n[models.scripted]\nprovider = "scripted"\nscript = "worker.script.toml"\n',
  );
  const command = "sleep 600";
  await project.write(
    "worker.script.toml",
    `[[turns]]\ntools = [{ name = "bash", arguments = { command = "${command}" } }]\n[[turns]]\ntext = "Done."\n`,
  );
  await project.write("agents/worker/SKILL.md", "Work.\n");
  await project.write(
    "agents/worker/config.toml",
    `models = ["scripted"]\ncredentials = []\ncallable = true\n${ownUser}`,
  );
  await project.start();
  await project.trigger("asker", "caller", "worker", "sleeper");
  const opened = async () =>
    expect([...(await openQuestions(project)).keys()].sort()).toEqual(["asker", "caller"]);
  await vi.waitFor(opened, slowly);
  const { id } = (await openQuestions(project)).get("caller") ?? { id: "" };
  expect((await project.post(`/api/questions/${id}/answer`, { answer: "once" })).status).toBe(200);
  const latest = async (agent: string) => (await project.latest(agent))?.instanceId ?? "";
  await vi.waitFor(async () => {
    expect(await project.agent("sleeper")).toMatchObject({ running: 1 });
    const text = "Leave the logs alone.";
    const told = await project.post(`/api/runs/${await latest("worker")}/steer`, { text });
    expect(told.status).toBe(202);
  }, slowly);
  await project.post(`/control/kill/${await latest("sleeper")}`);
  await vi.waitFor(
    async () => expect(await project.latest("sleeper")).toMatchObject({ outcome: "killed" }),
    slowly,
  );
}, 120_000);

const browser = perFile(openBrowser, (browser) => browser.close());

const latestRun = /^Latest run of/;

/** The page after one click on the dashboard's first page: on a link of an agent's row, or of the header. */
async function afterOneClick(name: RegExp, agent?: string): Promise<Page> {
  const context = await browser().newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const { dashboardUrl, url, apiKey } = project.scheduler;
  await context.request.post(`${url}/login`, { data: { key: apiKey } });
  await page.goto(dashboardUrl);
  const row = page.locator("tbody tr", {
    has: page.getByRole("link", { name: agent ?? "", exact: true }),
  });
  const link = (agent === undefined ? page.locator("header") : row).getByRole("link", { name });
  // The link's visible part: its hidden words are elsewhere.
  await (name === latestRun ? link.locator("time") : link).click();
  await page.waitForURL((now) => now.href !== dashboardUrl);
  return page;
}

const questions = /: questions of/;
const textOf = (page: Page, selector: string) => page.locator(selector).innerText();

test("one click on the first page of the dashboard shows which questions are open", async () => {
  const page = await afterOneClick(/^Questions 1/);
  expect(await textOf(page, "#total")).toBe("1 open");
  expect(await textOf(page, "#open")).toContain("asker");
});

test("one click on the first page of the dashboard shows the text of a run's question", async () => {
  const page = await afterOneClick(questions, "asker");
  expect(await textOf(page, "#open .question-prompt")).toBe("Deploy 1.4?");
});

test("one click on the first page of the dashboard shows until when a question waits", async () => {
  const page = await afterOneClick(questions, "asker");
  const { until } = (await openQuestions(project)).get("asker") ?? {};
  expect(await textOf(page, "#open")).toMatch(/If no person answers, the run ends in 2\d h/);
  expect(await page.locator("#open time").last().getAttribute("datetime")).toBe(until);
});

test("one click on the first page of the dashboard shows who approved a call", async () => {
  const page = await afterOneClick(latestRun, "caller");
  expect(await textOf(page, "#acts")).toContain("approve: API key from 127.0.0.1");
  expect(await textOf(page, "#questions .question-end")).toContain("by the API key");
});

test("one click on the first page of the dashboard shows which messages people sent to a run", async () => {
  const page = await afterOneClick(latestRun, "worker");
  expect(await textOf(page, "#messages")).toMatch(/Leave the logs alone\.\s+the API key, /);
});

test("one click on the first page of the dashboard shows who killed a run", async () => {
  const page = await afterOneClick(latestRun, "sleeper");
  expect(await textOf(page, "#acts")).toContain("kill: API key from 127.0.0.1");
});
