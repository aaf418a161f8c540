import type { Page } from "playwright-core";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/questions";
const instanceId = "dev-abcdefgh";
const ada = { via: "slack", name: "Ada", from: null } as const;

/** The id of a numbered question. */
const idOf = (id: number): string => `0193a1b2-0000-7000-8000-${String(id).padStart(12, "0")}`;

/** A project with these questions, the first one with the id 1. */
function withQuestions(...questions: readonly Partial<QuestionView>[]) {
  const deps = testDeps();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  deps.operations.asked.push(
    ...questions.map((one, index) => aQuestionView({ id: idOf(index + 1), until, ...one })),
  );
  const count = deps.operations.asked.filter(({ state }) => state === "open").length;
  deps.operations.setScheduler({ questions: count });
  return deps;
}

async function openLive(deps: ReturnType<typeof testDeps>, at = path) {
  const opened = await open(at, deps);
  await opened.page.waitForSelector("body[data-connection=live]");
  const { operations } = deps;
  return { ...opened, asked: operations.asked, operations };
}

const textsOf = async (page: Page, list: string) => {
  const texts = await page.locator(`#${list} > li`).allInnerTexts();
  return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
};
const card = (page: Page, id = 1) => page.locator(`[id="${idOf(id)}"]`);

test("a person sees who asks, answers by a button, and finds the answer among the ended ones", async () => {
  const held = { fallback: "no", gates: ["dev", "ops"] };
  const { page, asked, errors } = await openLive(withQuestions(held));
  expect(await textsOf(page, "open")).toEqual([
    expect.stringMatching(
      /^dev · dev-abcdefgh · asked .+ ago Deploy 1.4\? Held by the gates of ops, by whose call it runs\. yes no If no person answers, the answer is “no” in (1 h|59 min)\.$/,
    ),
  ]);
  await card(page).getByRole("button", { name: "yes" }).click();
  await expect
    .poll(() => textsOf(page, "ended-list"))
    .toEqual([expect.stringMatching(/Deploy 1\.4\? .+ yes · by the dashboard · /)]);
  expect(asked[0]).toMatchObject({ answer: "yes", by: { via: "login" } });
  expect(await page.locator("#toasts").innerText()).toContain("Answered: yes");
  expect(await page.locator("#open-none").innerText()).toBe("No run waits for an answer.");
  expect(errors).toEqual([]);
});

test("a question appears, and is counted in the header and the title, without a reload", async () => {
  const { page, asked, operations } = await openLive(withQuestions());
  expect(await page.locator("#question-count").isVisible()).toBe(false);
  expect(await page.locator("#open-none").innerText()).toContain("al_ask");
  asked.push(aQuestionView());
  operations.setScheduler({ questions: 1 });
  await expect.poll(() => textsOf(page, "open")).toHaveLength(1);
  expect(await page.getByRole("link", { name: "Questions 1 open" }).isVisible()).toBe(true);
  expect(await page.title()).toBe("(1) Questions · hello · Almanac");
});

test("a person who is second learns who was first", async () => {
  const { page, asked } = await openLive(withQuestions({}));
  const [first] = asked;
  if (first === undefined) throw new Error("there is no question");
  const answeredAt = new Date().toISOString();
  asked[0] = { ...first, state: "answered", answer: "no", by: ada, answeredAt };
  await card(page).getByRole("button", { name: "yes" }).click();
  await expect.poll(() => page.locator("#toasts").innerText()).toContain("answered at noon");
  await expect
    .poll(() => textsOf(page, "ended-list"))
    .toEqual([expect.stringContaining("no · Ada by Slack")]);
});

test("numbers and texts have fields, and a refused answer stays in its field", async () => {
  const number = { form: { kind: "number", min: 1, max: 9 } } as const;
  const { page, asked } = await openLive(
    withQuestions(number, { form: { kind: "text", maxLength: 20 } }, { form: { kind: "boolean" } }),
  );
  const field = card(page, 1).getByRole("spinbutton");
  await field.fill("12");
  await card(page, 1).getByRole("button", { name: "Answer" }).click();
  await expect.poll(() => page.locator("input:out-of-range").count()).toBe(1);
  expect(asked[0]?.state).toBe("open");
  await field.fill("4.5");
  await field.press("Enter");
  await card(page, 2).getByRole("textbox").fill("  leave it  ");
  await card(page, 2).getByRole("button", { name: "Answer" }).click();
  await card(page, 3).getByRole("button", { name: "No" }).click();
  await expect.poll(() => asked.map(({ answer }) => answer)).toEqual([4.5, "leave it", false]);
});

test("typed text survives a change of the other questions", async () => {
  const { page, asked, operations } = await openLive(
    withQuestions({ form: { kind: "text", maxLength: 20 } }),
  );
  await card(page).getByRole("textbox").fill("half of a");
  asked.unshift(aQuestionView({ id: idOf(9) }));
  operations.setScheduler({ questions: 2 });
  await expect.poll(() => textsOf(page, "open")).toHaveLength(2);
  expect(await card(page).getByRole("textbox").inputValue()).toBe("half of a");
});

test("the page Questions works without a script: a form that redirects to the answer", async () => {
  const { page, url, asked } = await openLive(withQuestions({}));
  const browser = page.context().browser();
  const storageState = await page.context().storageState();
  const context = await browser?.newContext({ javaScriptEnabled: false, storageState });
  onTestFinished(() => context?.close());
  const plain = await context?.newPage();
  await plain?.goto(url + path);
  await plain?.getByRole("button", { name: "no" }).click();
  await plain?.waitForURL(url + path);
  expect(await plain?.locator("#ended-list").innerText()).toContain("no · by the dashboard");
  expect(asked[0]).toMatchObject({ answer: "no", by: { via: "login" } });
});

test("on a phone the buttons are large, and nothing is wider than the screen", async () => {
  const choices = ["once", "run", "always", "deny"];
  const long = "https://example.test/".padEnd(300, "x");
  const { page } = await openLive(
    withQuestions({ kind: "host", form: { kind: "choice", choices }, prompt: long }, {}),
  );
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  const buttons = await page.locator("#open button").all();
  expect(buttons).toHaveLength(6);
  for (const button of buttons) {
    const box = await button.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect(box?.width).toBeGreaterThan(300);
  }
  await expect.poll(() => card(page).locator("a[href*='example.test']").count()).toBe(0);
});

test("a run's page has its question to answer, and who answered the earlier ones", async () => {
  const deps = withQuestions({}, { state: "answered", answer: "yes", by: ada });
  const { asked, runs } = deps.operations;
  const show = (): void => {
    runs.set(instanceId, aRunView(instanceId, { outcome: null, questions: [...asked] }));
  };
  show();
  const { page } = await openLive(deps, `/dashboard/agents/dev/runs/${instanceId}`);
  const list = () => textsOf(page, "question-list");
  expect((await list())[1]).toMatch(/^asked .+ ago Deploy 1\.4\? yes · Ada by Slack · /);
  expect(await page.locator("#state").innerText()).toBe("waiting: person");
  await page.getByRole("button", { name: "no" }).click();
  await expect.poll(() => asked[0]?.answer).toBe("no");
  show();
  deps.operations.setAgent({ name: "dev", state: "running" });
  await expect.poll(async () => (await list())[0]).toContain("no · by the dashboard");
  expect(await page.locator("#state").innerText()).toBe("running");
});

test("the page Questions shows the questions of one agent, and older ended ones", async () => {
  const ended = Array.from({ length: 31 }, () => ({ state: "expired", answer: "no" }) as const);
  const other = { agent: "owl", instanceId: "owl-abcdefgh" };
  const { page, url } = await openLive(withQuestions({}, other, ...ended));
  await page.getByRole("button", { name: "Older" }).click();
  await expect.poll(() => textsOf(page, "ended-list")).toHaveLength(1);
  await page.goto(`${url}${path}?agent=owl`);
  expect(await textsOf(page, "open")).toEqual([expect.stringContaining("owl · owl-abcdefgh")]);
  await page.getByRole("link", { name: "of all agents" }).click();
  await expect.poll(() => textsOf(page, "open")).toHaveLength(2);
});

test("an agent that waits for a person leads to its questions in one click", async () => {
  const deps = withQuestions({}, { agent: "owl" });
  deps.operations.setAgent({ name: "dev", state: "waiting", blockedBy: "person", running: 1 });
  const { page, url } = await openLive(deps, "/dashboard");
  for (const from of ["/dashboard", "/dashboard/agents/dev"]) {
    await page.goto(url + from);
    const pill = page.locator("main a.pill", { hasText: "waiting: person" });
    await pill.click();
    await page.waitForURL(`${url}${path}?agent=dev`);
    expect(await textsOf(page, "open")).toEqual([expect.stringContaining("dev · dev-abcdefgh")]);
  }
});

test("the page Questions says why the questions can't be read, and reads them again", async () => {
  const deps = withQuestions({});
  const { questions } = deps.operations;
  deps.operations.questions = () => {
    throw new UserError("store_unavailable", "the disk is full");
  };
  const { page } = await openLive(deps);
  await expect.poll(() => page.locator("main").innerText()).toContain("the disk is full");
  deps.operations.questions = questions;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => textsOf(page, "open")).toHaveLength(1);
});
