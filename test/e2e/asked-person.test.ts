import { chmod } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";
import { isLong } from "../helpers/long.ts";
import { tempUser, whyNoOsUsers, type OsUser } from "../helpers/os-users.ts";
import { clockAhead } from "../helpers/scheduler.ts";
import { realPrograms } from "../runtime/harness/llm-cli/real-programs.ts";
import { askingProject, openQuestions, ticksOf, toolResults } from "./asking-project.ts";

const { engine, missing } = await testEngine();
const bin = await realPrograms();
const patience = { timeout: 90_000 };
const dayMs = 86_400_000;
const both = bin === null ? ["pi"] : ["pi", "claude"];
let askers = both;
const ownUser = 'type = "host-user"\nrun_as = "$USER"';

let browser: Browser;
let project: LiveProject;
let close: () => Promise<void>;

const opened = async () => [...(await openQuestions(project)).keys()].sort();
const instanceOf = async (agent: string) => (await project.latest(agent))?.instanceId ?? "";

beforeAll(async () => void (browser = await openBrowser()));
afterAll(() => browser.close());

/** A person logs in on a phone and answers the run's question. */
async function answerOnPhone(instanceId: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const { dashboardUrl, apiKey } = project.scheduler;
  await page.goto(`${dashboardUrl}/questions`);
  await page.getByLabel("API key").fill(apiKey);
  await page.getByRole("button", { name: "Log in" }).click();
  const question = page.locator("#open > li", { hasText: instanceId });
  await question.getByRole("button", { name: "yes" }).click();
  const answered = page.locator("#ended-list > li", { hasText: instanceId });
  await expect.poll(() => answered.innerText(), patience).toContain("by the dashboard");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await page.close();
}

/** Lets all askers ask. */
async function ask(): Promise<void> {
  expect(await project.trigger(...askers)).toEqual(askers.map(() => 202));
  await expect.poll(opened, patience).toEqual([...askers].sort());
}

async function expectAnsweredAfterADay(): Promise<void> {
  const instances = await Promise.all(askers.map(instanceOf));
  await project.crash({ env: clockAhead(dayMs) });
  await expect.poll(opened, patience).toEqual([...askers].sort());
  // A day of claude's shell, whose clock nobody can move.
  if (askers.includes("claude")) await sleep(9_500);
  for (const instanceId of instances) await answerOnPhone(instanceId);
  for (const [at, agent] of askers.entries()) {
    const ended = { outcome: "succeeded", attempt: 1, instanceId: instances[at] };
    await expect.poll(() => project.latest(agent), patience).toMatchObject(ended);
    expect(await project.history(`agent=${agent}&kind=manual`)).toHaveLength(1);
    expect((await project.messages(agent, "said")).at(-1)).toBe("I go on.");
    const [result, ...others] = await toolResults(project, agent);
    expect(others).toEqual([]);
    expect(result).toMatch(/answer\W+yes/);
  }
}

describe.skipIf(whyNoOsUsers() !== null)("runs of host users that ask a person", () => {
  let user: OsUser;
  forAll(async () => {
    user = await tempUser();
    const runtimes = [ownUser, `type = "host-user"\nrun_as = "${user.name}"`] as const;
    const made = await askingProject({ bin, runtimes, isContained: false });
    ({ project } = made);
    close = () => made.provider.close();
    for (const path of ["..", "../bin"]) await chmod(project.path(path), 0o755);
    await project.start();
  });
  afterAll(async () => {
    await close();
    await user.remove();
  });

  test("wait without a slot and without CPU", { timeout: 150_000 }, async () => {
    await ask();
    await project.print("run", "other");
    for (const agent of askers) {
      const instanceId = await instanceOf(agent);
      const usedMs = async () => {
        const before = await ticksOf(instanceId);
        await sleep(3_000);
        return ((await ticksOf(instanceId)) - before) * 10;
      };
      // claude first writes down what it has done.
      await expect.poll(usedMs, patience).toBeLessThanOrEqual(30);
    }
  });

  test(
    "are answered on a phone after a crash of the scheduler and a day, and go on in their sessions",
    { timeout: 150_000 },
    expectAnsweredAfterADay,
  );
});

describe.skipIf(missing !== null)("runs in containers that ask a person", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);
  forAll(async () => {
    // An image with claude takes half a minute.
    askers = isLong ? both : ["pi"];
    const runtimes = ['type = "container"', 'type = "container"'] as const;
    const made = await askingProject({ bin: isLong ? bin : null, runtimes, isContained: true });
    ({ project } = made);
    close = () => made.provider.close();
    await project.start();
  }, engineSetupMs);
  afterAll(async () => {
    await project.scheduler.stop();
    await removeAll(engine, project.dir);
    await close();
  });

  const containers = async () => {
    const ids = await containersOfProject(engine, project.dir);
    return ids.map((id) => engine.calls().getContainer(id));
  };
  const paused = async () => {
    const found = await Promise.all((await containers()).map((one) => one.inspect()));
    return found.map(({ State }) => State.Paused);
  };
  const usage = async () => {
    const all = (await containers()).map((one) => one.stats({ stream: false }));
    return (await Promise.all(all)).map(({ cpu_stats }) => cpu_stats.cpu_usage.total_usage);
  };

  test("wait without a slot, paused and without CPU", { timeout: 150_000 }, async () => {
    await ask();
    await project.print("run", "other");
    await expect.poll(paused, patience).toEqual(askers.map(() => true));
    const before = await usage();
    await sleep(3_000);
    expect(await usage()).toEqual(before);
  });

  test(
    "are answered on a phone after a crash of the scheduler and a day, and go on in their sessions",
    { timeout: 150_000 },
    expectAnsweredAfterADay,
  );
});
