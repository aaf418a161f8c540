import { testDeps } from "../gateway/start-gateway.ts";
import { distanceToBottom, sharedLogs } from "./log-support.ts";

const openWith = sharedLogs();

test("the last 100 lines come first, then each new one", async () => {
  const { page, rows, deps, errors } = await openWith(130);
  await expect.poll(() => rows.count()).toBe(100);
  expect(await rows.first().innerText()).toContain("line 31");
  deps.logs.write({ agent: "dev", msg: "and another" });
  await expect.poll(() => rows.last().innerText()).toContain("and another");
  expect(await page.locator("#connection").innerText()).toBe("Live");
  expect(errors).toEqual([]);
});

test("the log follows until the reader scrolls up, and again from the bottom", async () => {
  const { page, rows, deps } = await openWith(100);
  await expect.poll(() => rows.count()).toBe(100);
  expect(await distanceToBottom(page)).toBe(0);
  for (let line = 0; line < 50; line++) deps.logs.write({ agent: "dev", msg: `more ${line}` });
  await expect.poll(() => rows.count()).toBe(150);
  expect(await distanceToBottom(page)).toBe(0);

  await page.locator("#log").hover();
  await page.mouse.wheel(0, -600);
  await expect
    .poll(() => page.getByRole("button", { name: "Follow", exact: true }).count())
    .toBe(1);
  const before = await distanceToBottom(page);
  deps.logs.write({ agent: "dev", msg: "while reading" });
  await expect.poll(() => rows.count()).toBe(151);
  expect(await distanceToBottom(page)).toBeGreaterThan(before);
  expect(await page.locator("#jump").innerText()).toBe("1 new line ↓");

  await page.mouse.wheel(0, 5000);
  await expect.poll(() => page.locator("#jump").isVisible()).toBe(false);
  deps.logs.write({ agent: "dev", msg: "followed" });
  await expect.poll(() => rows.last().innerText()).toContain("followed");
  expect(await distanceToBottom(page)).toBe(0);
});

test("the button that counts new lines leads to them", async () => {
  const { page, rows } = await openWith(100);
  await expect.poll(() => rows.count()).toBe(100);
  await page.locator("#log").focus();
  // On a busy machine the browser may end its smooth scroll early: 57 px before the top, seen twice in 40.
  await expect
    .poll(async () => {
      await page.keyboard.press("Home");
      return page.evaluate(`document.querySelector("#log").scrollTop`);
    })
    .toBe(0);
  await page.locator("#jump").click();
  await expect.poll(() => distanceToBottom(page)).toBe(0);
  expect(await page.locator("#follow").innerText()).toBe("Following");
});

test("Clear empties the display only", async () => {
  const { page, rows, deps } = await openWith(20);
  await expect.poll(() => rows.count()).toBe(20);
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(() => rows.count()).toBe(0);
  deps.logs.write({ agent: "dev", msg: "after" });
  await expect.poll(() => rows.count()).toBe(1);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(21);
});

test("lines of another day stand below that day", async () => {
  const deps = testDeps();
  const day = 24 * 3_600_000;
  for (const [ago, msg] of [
    [2, "first"],
    [2, "second"],
    [1, "third"],
    [0, "last"],
  ] as const) {
    deps.logs.write({ agent: "dev", instanceId: "dev-a", msg, time: Date.now() - ago * day });
  }
  const { page } = await openWith(0, deps);
  const headings = page.locator(".day-heading:visible");
  await expect.poll(() => headings.count()).toBe(3);
  const days = (await headings.allInnerTexts()).map((text) => new Date(text).toDateString());
  const daysAgo = (ago: number) => new Date(Date.now() - ago * day).toDateString();
  expect(days).toEqual([2, 1, 0].map(daysAgo));
  const text = await page.locator("#log").innerText();
  expect(text.replaceAll(/\s+/g, " ")).toMatch(
    /dev-a.* first .* second .*20\d\d .* third .*20\d\d .* last/,
  );
  await page.getByLabel("Show only lines with this text").fill("third");
  await expect.poll(() => headings.count()).toBe(1);
});

test("the levels of lines are read out, and INFO takes no room", async () => {
  const deps = testDeps();
  for (const level of [30, 40, 50] as const) deps.logs.write({ agent: "dev", level, msg: "m" });
  const { page } = await openWith(0, deps);
  const levels = page.locator("#log .level");
  await expect.poll(() => levels.allInnerTexts()).toEqual(["INFO", "WARN", "ERROR"]);
  const places = await page.evaluate(
    `[".info .level", ".warn .level"].map((level) =>
      getComputedStyle(document.querySelector(level)).position)`,
  );
  expect(places).toEqual(["absolute", "static"]);
});

test("a line shows its time if it differs from the line before", async () => {
  const deps = testDeps();
  const time = Date.parse("2026-11-22T10:00:00.100Z");
  for (const after of [0, 500, 1_000, 1_400]) {
    deps.logs.write({ agent: "dev", msg: `after ${after}`, time: time + after });
  }
  const { page } = await openWith(0, deps);
  const rows = page.locator("#log .line");
  await expect.poll(() => rows.count()).toBe(4);
  const shown = () =>
    page.evaluate(
      `[...document.querySelectorAll("#log .at")].map((at) => getComputedStyle(at).opacity)`,
    );
  expect(await shown()).toEqual(["1", "0", "1", "0"]);
  await rows.nth(1).hover();
  expect(await shown()).toEqual(["1", "1", "1", "0"]);
  // A reader of the screen has every time.
  await expect.poll(() => rows.nth(3).ariaSnapshot()).toContain(":01");
});

test("no line is cut on a narrow screen", async () => {
  const width = 320;
  const { page, rows } = await openWith(3);
  await page.setViewportSize({ width, height: 700 });
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  for (const id of ["follow", "text-filter", "log"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  }
});
