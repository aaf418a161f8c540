import { spawn } from "node:child_process";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { copyProject, nearFullMinute, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const root = resolve(import.meta.dirname, "../..");

/** The text of a column in an agent's row. */
function cell(page: Page, agent: string, column: string) {
  return page.locator(`tr[data-agent="${agent}"] .${column.toLowerCase().replace(" ", "-")}`);
}

async function logIn(page: Page, { dashboardUrl, apiKey }: TestScheduler): Promise<void> {
  await page.goto(dashboardUrl);
  await page.getByLabel(/key/i).fill(apiKey);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/dashboard$/);
}

describe("a newcomer", () => {
  let project: TestProject;
  let scheduler: TestScheduler;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    project = await copyProject("examples/hello");
    scheduler = await startTestScheduler(project, { env: nearFullMinute(15) });
    browser = await openBrowser();
    page = await browser.newPage();
    await logIn(page, scheduler);
  });

  afterAll(async () => {
    await browser.close();
    await scheduler.stop();
    await project.remove();
  });

  const config = (agent = "hello"): string => join(project.dir, "agents", agent, "config.toml");
  const edit = async (change: (text: string) => string): Promise<void> => {
    await writeFile(config(), change(await readFile(config(), "utf8")));
  };
  const schedule =
    (expression: string) =>
    (text: string): string =>
      text.replace(/^schedule = .*$/m, `schedule = "${expression}"`);
  const nextRun = async (): Promise<string | null> => {
    const response = await scheduler.api("/control/status");
    const status = (await response.json()) as {
      agents: { name: string; nextRunAt: string | null }[];
    };
    return status.agents.find(({ name }) => name === "hello")?.nextRunAt ?? null;
  };

  test("sees the table of agents, live", async () => {
    await cell(page, "hello", "State").getByText("idle").waitFor();
    const headings = await page.locator("thead th:visible").allInnerTexts();
    const columns =
      "Agent, State, Status, Last 20 Runs, Last Run, Duration, Next Run, Cost Today, Actions";
    expect(headings.map((heading) => heading.replace("↑", "").trim()).join(", ")).toBe(columns);
  });

  test("presses Run and sees the agent run and return to idle", async () => {
    await page.getByRole("button", { name: "Run hello" }).click();
    await cell(page, "hello", "State").getByText("running").waitFor();
    await cell(page, "hello", "State").getByText("idle").waitFor({ timeout: 30_000 });
    await cell(page, "hello", "Last Run").getByText("succeeded").waitFor();
  });

  test("watches a cron run in the agent's log, with its text, tools and tokens", async () => {
    await cell(page, "hello", "Agent").getByRole("link", { name: "log" }).click();
    const log = page.getByRole("log");
    await log.getByText("run started manually").first().waitFor();
    await log.getByText("run started by its schedule").first().waitFor({ timeout: 75_000 });
    const lastRun = async (): Promise<string> =>
      (await log.innerText()).split("its schedule").at(-1) ?? "";
    await expect.poll(lastRun, { timeout: 30_000 }).toContain("run succeeded");
    const text = await lastRun();
    expect(text).toContain("Hello from your first agent");
    expect(text).toMatch(/bash\s*date/);
    expect(text).toMatch(/\d+ tokens/);
    await page.goto(scheduler.dashboardUrl);
  }, 120_000);

  test("edits the schedule and sees the Next Run column change by itself", async () => {
    await cell(page, "hello", "Next Run").waitFor();
    const before = await cell(page, "hello", "Next Run").locator("time").getAttribute("datetime");
    await edit(schedule("0 0 1 1 *"));
    await expect
      .poll(() => cell(page, "hello", "Next Run").locator("time").getAttribute("datetime"))
      .not.toBe(before);
    expect(await nextRun()).toMatch(/-(01-01|12-31)T/);
  });

  test("writes nonsense and sees the error with its place, while the last good config stays active", async () => {
    const before = await nextRun();
    await edit(schedule("whenever"));
    await cell(page, "hello", "State").getByText("error").waitFor();
    const status = await cell(page, "hello", "Status").innerText();
    expect(status).toMatch(/agents\/hello\/config\.toml:\d+:\d+/);
    expect(status).toContain('"whenever" is not a cron expression');
    expect(await nextRun()).toBe(before);
  });

  test("repairs it and sees it recover", async () => {
    await edit(schedule("0 9 * * *"));
    await cell(page, "hello", "State").getByText("idle").waitFor();
  });

  test("adds an agent and removes one, and the table follows", async () => {
    await cp(join(project.dir, "agents/hello"), join(project.dir, "agents/second"), {
      recursive: true,
    });
    await cell(page, "second", "State").getByText("idle").waitFor();
    await rm(join(project.dir, "agents/second"), { recursive: true });
    await cell(page, "second", "State").waitFor({ state: "detached" });
    expect(await cell(page, "hello", "State").count()).toBe(1);
  });

  test("adds an agent by an atomic rename of its directory", async () => {
    const draft = join(project.dir, "third-draft");
    await cp(join(project.dir, "agents/hello"), draft, { recursive: true });
    await rename(draft, join(project.dir, "agents/third"));
    await cell(page, "third", "State").getByText("idle").waitFor();
  });

  test("adds an agent that is broken from the beginning without harm to the others", async () => {
    await mkdir(join(project.dir, "agents/broken"));
    await writeFile(config("broken"), "models = [\n");
    await cell(page, "broken", "State").getByText("error").waitFor();
    await page.getByRole("button", { name: "Run hello" }).click();
    await cell(page, "hello", "State").getByText("running").waitFor();
  });
});

test("npm start prints the dashboard's address and where the key is, and stays up until it is interrupted", async () => {
  const home = await copyProject("examples/hello");
  const child = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: root,
    env: { ...process.env, AL_HOME: home.home, NO_COLOR: "1" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const ended = new Promise<number | null>((resolveEnd) => child.once("exit", resolveEnd));
    await expect.poll(() => output, { timeout: 60_000 }).toMatch(/^API key: +\S+$/m);
    const url = /^Dashboard: +(\S+)$/m.exec(output)?.[1] ?? "";
    expect(
      (await fetch(url, { redirect: "manual", headers: { accept: "text/html" } })).status,
    ).toBe(302);
    process.kill(-(child.pid ?? 0), "SIGINT");
    await ended;
    expect(output).toContain("stopping (SIGINT)");
    await expect.poll(() => fetch(url).catch(() => "closed")).toBe("closed");
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    }
    await home.remove();
  }
});
