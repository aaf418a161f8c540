import type { Page } from "playwright-core";
import type { LogPageQuery } from "../../../../src/foundation/logs/log-query.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { distanceToBottom } from "../log-support.ts";
import { sharedBrowser } from "../open-page.ts";
import { untilLive } from "../shows.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev/logs";

/** A log with 1,000 lines of two runs: `<0>` to `<999>`. */
function longLog(lines = 1_000) {
  const deps = testDeps();
  for (let line = 0; line < lines; line++) {
    const instanceId = line < lines / 2 ? "dev-aaaaaaaa" : "dev-bbbbbbbb";
    deps.logs.write({ agent: "dev", instanceId, msg: `<${line}>` });
  }
  return deps;
}

const position = (line: number): string => `dev-2026-11-21.log:${line + 1}`;
const at = (line: number): string => `${path}?at=${encodeURIComponent(position(line))}`;

/** Read without a layout of the page. */
const texts = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll("#log .line .text")].map((text) => text.textContent)`,
  );

async function numbers(page: Page): Promise<readonly number[]> {
  return (await texts(page)).map((text) => Number(/\d+/.exec(text)?.[0]));
}

/** Where a line is on the screen. */
async function topOf(page: Page, line: number): Promise<number> {
  const box = await page.getByText(`<${line}>`, { exact: true }).boundingBox();
  return Math.round(box?.y ?? -1);
}

const between = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

test("earlier log lines are added above, and the reader's place does not move", async () => {
  const { page, deps, shows } = await open(path, longLog());
  const earlier = page.getByRole("button", { name: "Earlier lines" });
  await expect.poll(() => numbers(page)).toEqual(between(900, 1_000));
  await page.locator("#log").focus();
  await page.keyboard.press("Home");
  await expect
    .poll(() => page.evaluate(`document.querySelector("#log").scrollTop`))
    .toBeLessThan(10);
  for (const from of [800, 700]) {
    const before = await topOf(page, from + 100);
    await earlier.evaluate((button) => {
      (button as unknown as { click(): void }).click();
    });
    await expect.poll(() => numbers(page)).toEqual(between(from, 1_000));
    expect(Math.abs((await topOf(page, from + 100)) - before)).toBeLessThanOrEqual(1);
  }
  // New lines still come, and move nothing.
  const before = await topOf(page, 800);
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "<1000>" });
  await expect.poll(() => numbers(page)).toEqual(between(700, 1_001));
  await expect.poll(() => topOf(page, 800)).toBe(before);
  await shows({ "#jump": "1 new line ↓" });
});

test("the first line of the log is named, and headings stand where runs begin", async () => {
  const { page, shows, press } = await open(path, longLog(250));
  await expect.poll(() => numbers(page)).toEqual(between(150, 250));
  await shows({ ".run-heading a:first-child": ["dev-bbbbbbbb"] });
  await press("Earlier lines");
  await expect.poll(() => numbers(page)).toEqual(between(50, 250));
  await shows({ ".run-heading a:first-child": ["dev-aaaaaaaa", "dev-bbbbbbbb"] });
  await press("Earlier lines");
  await expect.poll(() => numbers(page)).toEqual(between(0, 250));
  await shows({ ".run-heading a:first-child": ["dev-aaaaaaaa", "dev-bbbbbbbb"] });
  await expect
    .poll(() => page.getByRole("button", { name: "Earlier lines" }).isVisible())
    .toBe(false);
  await shows({ "#reached": "The log begins here." });
});

test("each line has a link that opens the log around it and marks it, with a jump to the newest lines", async () => {
  const { page, url, shows, press } = await open(path, longLog());
  await expect.poll(() => numbers(page)).toEqual(between(900, 1_000));
  const line = page.locator(".line").filter({ hasText: "<905>" });
  await expect
    .poll(() => line.getByRole("link", { name: "This line" }).getAttribute("href"))
    .toBe(at(905));

  await page.goto(url + at(420));
  await shows({ ".line.marked": /<420>/ });
  await expect.poll(() => numbers(page)).toEqual(between(361, 481));
  const box = await page.locator("#log").boundingBox();
  const top = await topOf(page, 420);
  expect(top).toBeGreaterThan(box?.y ?? 0);
  expect(top).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));

  await press("Jump to the newest");
  await expect.poll(() => numbers(page)).toEqual(between(900, 1_000));
  await expect.poll(() => page.url()).toBe(url + path);
  await shows({ "#follow": "Following" });
});

test("a linked line continues in both directions, up to the newest line", async () => {
  const { page, url, deps, shows, press } = await open(path, longLog());
  await page.goto(url + at(880));
  await expect.poll(() => numbers(page)).toEqual(between(821, 941));
  // New lines do not follow on the part that is shown.
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "<1000>" });
  await press("Earlier lines");
  await expect.poll(() => numbers(page)).toEqual(between(721, 941));
  await press("Later lines");
  await expect.poll(() => numbers(page)).toEqual(between(721, 1_001));
  await shows({ "#connection": "Live" });
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "<1001>" });
  await expect.poll(() => numbers(page)).toEqual(between(721, 1_002));
  await page.locator("#jump").click();
  await shows({ "#follow": "Following" });
});

test("the link to a line that is deleted says so and shows the newest lines", async () => {
  const { page, url, shows } = await open(path, longLog(5));
  await page.goto(url + at(700));
  await shows({ "#line-gone": true });
  await expect.poll(() => numbers(page)).toEqual(between(0, 5));
});

test("a log page holds 5,000 lines at most: new lines replace the earliest, earlier ones the newest", async () => {
  const { page, deps } = await open(path, longLog(400));
  const click = (id: string) => page.evaluate(`document.querySelector("#${id}").click()`);
  const expectShown = async (from: number, to: number) => {
    const wanted = between(from, to).map((line) => `<${line}>`);
    await expect.poll(() => texts(page), { interval: 250 }).toEqual(wanted);
  };
  await expectShown(300, 400);
  await untilLive(page);
  const write = (from: number, to: number) => {
    for (const line of between(from, to))
      deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: `<${line}>` });
  };
  write(400, 5_300);
  await expectShown(300, 5_300);
  write(5_300, 5_350);
  await expectShown(350, 5_350);
  await expect.poll(() => distanceToBottom(page)).toBe(0);
  await click("earlier");
  await expectShown(250, 5_250);
  await click("earlier");
  await expectShown(150, 5_150);
  await click("later");
  await expectShown(250, 5_250);
});

test("the filter searches the whole log by itself, and reports its progress", async () => {
  const deps = longLog(300);
  const whole = Object.assign({}, deps.logs);
  const real = (query: LogPageQuery) => whole.page(query);
  // A scan that ends after 100 lines, as one of 32 MiB does.
  let isHeld = true;
  deps.logs.page = async (query) => {
    if ("after" in query.from) return real(query);
    const isFirst = query.from.before === null;
    if (!isFirst) await expect.poll(() => isHeld).toBe(false);
    const all = { ...query, filter: { level: 10, text: "" }, lines: 100 };
    const part = await real(all);
    const lines = part.lines.filter(({ entry }) => entry.msg.includes(query.filter.text));
    return Object.assign({}, part, { lines, older: part.lines.length < 100 ? null : part.older });
  };
  const { page, shows } = await open(`${path}?q=${encodeURIComponent("<42>")}`, deps);
  await shows({
    "#reached": /^Searching … back to .*\.$/,
    "#log-empty": "Searching …",
    "#earlier": false,
  });
  isHeld = false;
  await expect.poll(() => numbers(page)).toEqual([42]);
  await shows({ "#log-empty": false, "#reached": "No earlier match." });
});

test("buttons and keys lead from match to match of the log, each with the lines around it", async () => {
  const { page, url, shows, press } = await open(
    `${path}?q=${encodeURIComponent("00>")}`,
    longLog(),
  );
  const marked = page.locator(".line.marked .text");
  const markedIs = (line: number) => expect.poll(() => marked.innerText()).toBe(`<${line}>`);
  await expect.poll(() => numbers(page)).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900]);
  await press("Previous match");
  await markedIs(900);
  await expect.poll(() => numbers(page)).toContain(880);
  await expect
    .poll(() => page.url())
    .toBe(`${url}${path}?q=00%3E&at=${encodeURIComponent(position(900))}`);
  await press("Next match");
  await shows({ ".toast": /no later match/ });
  await page.locator("#log").focus();
  await page.keyboard.press("N");
  await markedIs(800);
  await page.keyboard.press("N");
  await markedIs(700);
  await page.keyboard.press("n");
  await markedIs(800);
  await page.reload();
  await markedIs(800);
  await press("Matches only");
  await expect.poll(() => numbers(page)).toHaveLength(9);
});

test("one button leads to the first error of a run, and to the last one of a log", async () => {
  const deps = longLog(300);
  const write = (instanceId: string, msg: string) =>
    deps.logs.write({ agent: "dev", instanceId, msg, level: 50 });
  write("dev-bbbbbbbb", "<1000>");
  write("dev-bbbbbbbb", "<1001>");
  for (let line = 2_000; line < 2_200; line++)
    deps.logs.write({ agent: "dev", instanceId: "dev-cccccccc", msg: `<${line}>` });
  const { page, url, shows, press } = await open(path, deps);
  await press("Last error");
  await shows({ ".line.marked .text": "<1001>" });
  await page.goto(`${url}${path}?instance=dev-bbbbbbbb`);
  await press("First error");
  await shows({ ".line.marked .text": "<1000>" });
  await press("Next match");
  await shows({ ".line.marked .text": "<1001>" });
  await page.goto(`${url}${path}?instance=dev-cccccccc`);
  await press("First error");
  await shows({ ".toast": /no error in this log/ });
});
