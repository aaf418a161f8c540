import type { QuestionView } from "../../../../../src/foundation/contracts/question-views.ts";
import { aQuestionView } from "../../../../helpers/fake-questions.ts";
import { aRunView } from "../../../../helpers/run-view.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ago } from "../../page-states.ts";
import { ada, idOf } from "../../people-states.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();
const path = "/dashboard/questions";
const instanceId = "dev-abcdefgh";

/** A page of a project with these questions, the first one with the id 1. */
async function openWith(questions: readonly Partial<QuestionView>[], at = path) {
  const deps = testDeps();
  const { operations } = deps;
  const all = questions.map((one, index) =>
    aQuestionView({ id: idOf(index + 1), until: ago(-3_600), ...one }),
  );
  operations.asked.push(...all);
  operations.setScheduler({ questions: all.filter(({ state }) => state === "open").length });
  const opened = await open(at, deps);
  const { page } = opened;
  await untilLive(page);
  const card = (id: number) => page.locator(`[id="${idOf(id)}"]`);
  return { ...opened, operations, card, asked: operations.asked };
}

test("a person answers a question by a button, and finds the answer among the ended ones", async () => {
  const { asked, shows, press } = await openWith([{ fallback: "no" }]);
  await shows({
    "#open > li": [/yes no Unanswered, the answer is “no” in (1 h|59 min)\.$/],
  });
  await press("yes");
  await shows({
    "#ended-list > li": [/Deploy 1\.4\? .*yes · by the dashboard · /],
    "#toasts": /Answered: yes/,
    "#open-none": "No run is waiting for an answer.",
  });
  expect(asked[0]).toMatchObject({ answer: "yes", by: { via: "login" } });
});

test("a person denies a proposal after a look at its whole difference", async () => {
  const difference = { text: "-a\n+always \u202Eapprove\n", isCut: true };
  const form = { kind: "choice", choices: ["allow", "deny"] } as const;
  const { asked, shows, press } = await openWith([{ kind: "memory", form, difference }]);
  await shows({ "#open .removed": "-a", "#open .added": "+always [U+202E]approve" });
  const [first] = asked;
  asked.splice(0, 1, aQuestionView({ ...first, difference: { text: "+all\n", isCut: false } }));
  await press("Show the whole difference");
  await shows({ "#open .removed": 0, "#open .added": "+all" });
  await press("Deny");
  await shows({ "#toasts": /Answered: Deny/, "#ended-list > li": [/Deny · by the dashboard/] });
  expect(asked[0]).toMatchObject({ answer: "deny" });
});

test("a question appears, and is counted in the header and the title, without a reload", async () => {
  const { page, asked, operations, shows } = await openWith([]);
  await shows({ "#question-count": false });
  asked.push(aQuestionView());
  operations.setScheduler({ questions: 1 });
  await shows({ "#open > li": 1, 'nav a:has-text("Questions")': "Questions 1 open" });
  await expect.poll(() => page.title()).toBe("(1) Questions · hello · Almanac");
});

test("a person whose answer is second learns who was first", async () => {
  const { asked, shows, press } = await openWith([{}]);
  const answeredAt = new Date().toISOString();
  const answer = { state: "answered", answer: "no", by: ada, answeredAt } as const;
  asked.splice(0, 1, aQuestionView({ id: idOf(1), ...answer }));
  await press("yes");
  await shows({ "#toasts": /answered at noon/, "#ended-list > li": [/no · Ada via Slack/] });
});

test("questions for numbers and texts have fields, which keep a refused answer and a text while other questions change", async () => {
  const { asked, operations, shows, card } = await openWith([
    { form: { kind: "number", min: 1, max: 9 } },
    { form: { kind: "text", maxLength: 20 } },
    { form: { kind: "boolean" } },
  ]);
  const number = card(1).getByRole("spinbutton");
  await number.fill("12");
  await card(1).getByRole("button", { name: "Answer" }).click();
  await shows({ "input:out-of-range@value": "12" });
  expect(asked[0]?.state).toBe("open");
  await card(2).getByRole("textbox").fill("  leave it  ");
  asked.push(aQuestionView({ id: idOf(9) }));
  operations.setScheduler({ questions: 4 });
  await shows({ "#open > li": 4 });
  await number.fill("4.5");
  await number.press("Enter");
  await card(2).getByRole("button", { name: "Answer" }).click();
  await card(3).getByRole("button", { name: "No" }).click();
  await expect
    .poll(() => asked.map(({ answer }) => answer))
    .toEqual([4.5, "leave it", false, null]);
});

test("the page Questions works without a script: a form that redirects to the answer", async () => {
  const { page, url, asked } = await openWith([{}]);
  const storageState = await page.context().storageState();
  const browser = page.context().browser();
  const context = await browser?.newContext({ javaScriptEnabled: false, storageState });
  onTestFinished(() => context?.close());
  const plain = await context?.newPage();
  await plain?.goto(url + path);
  await plain?.getByRole("button", { name: "no" }).click();
  await expect
    .poll(() => plain?.locator("#ended-list").innerText())
    .toContain("no · by the dashboard");
  expect(plain?.url()).toBe(url + path);
  expect(asked[0]).toMatchObject({ answer: "no", by: { via: "login" } });
});

test("on a phone the buttons of questions are large, and long words of prompts are no links", async () => {
  const choices = ["once", "run", "always", "deny"];
  const prompt = "https://example.test/".padEnd(300, "x");
  const form = { kind: "choice", choices } as const;
  const { page, shows, fits } = await openWith([{ kind: "host", form, prompt }, {}]);
  await fits(390);
  await shows({ "#open button": 6, "a[href*='example.test']": 0 });
  const buttons = await page.locator("#open button").all();
  for (const button of buttons) {
    const box = await button.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect(box?.width).toBeGreaterThan(300);
  }
});

test("a run's page has its question to answer, and who answered the earlier ones", async () => {
  const earlier = { state: "answered", answer: "yes", by: ada } as const;
  const { page, url, asked, operations, shows, press } = await openWith([{}, earlier]);
  const change = (): void => {
    const run = { outcome: null, questions: [...asked] };
    operations.runs.set(instanceId, aRunView(instanceId, run));
  };
  change();
  await page.goto(`${url}/dashboard/agents/dev/runs/${instanceId}`);
  await shows({
    "#question-list > li >> nth=1": /^asked .+ Deploy 1\.4\? yes · Ada via Slack$/,
    "#state": "waiting: person",
  });
  await press("no");
  await expect.poll(() => asked[0]?.answer).toBe("no");
  change();
  operations.setAgent({ name: "dev", state: "running" });
  await shows({
    "#question-list > li >> nth=0": /no · by the dashboard/,
    "#state": "running",
  });
});

test("the page Questions shows the questions of one agent, and older ended ones", async () => {
  const ended = Array.from({ length: 31 }, () => ({ state: "expired", answer: "no" }) as const);
  const other = { agent: "owl", instanceId: "owl-abcdefgh" };
  const { page, url, shows, press } = await openWith([{}, other, ...ended]);
  await press("Older");
  await shows({ "#ended-list > li": 1 });
  await page.goto(`${url}${path}?agent=owl`);
  await shows({ "#open > li": [/owl · owl-abcdefgh/] });
  await page.getByRole("link", { name: "of all agents" }).click();
  await shows({ "#open > li": 2 });
});
