import { testDeps } from "../../../gateway/start-gateway.ts";
import { distanceToBottom, sharedLogs } from "../../log-support.ts";

const openWith = sharedLogs();

test("the log follows until the reader scrolls up, and again from the bottom", async () => {
  const { page, deps, shows } = await openWith(100);
  await shows({ "#log .line": 100 });
  await expect.poll(() => distanceToBottom(page)).toBe(0);
  for (let line = 0; line < 50; line++) deps.logs.write({ agent: "dev", msg: `more ${line}` });
  await shows({ "#log .line": 150 });
  await expect.poll(() => distanceToBottom(page)).toBe(0);

  await page.locator("#log").hover();
  await page.mouse.wheel(0, -600);
  await expect
    .poll(() => page.getByRole("button", { name: "Follow", exact: true }).count())
    .toBe(1);
  const before = await distanceToBottom(page);
  deps.logs.write({ agent: "dev", msg: "while reading" });
  await shows({ "#log .line": 151 });
  await expect.poll(() => distanceToBottom(page)).toBeGreaterThan(before);
  await shows({ "#jump": "1 new line ↓" });

  await page.mouse.wheel(0, 5000);
  await shows({ "#jump": false });
  deps.logs.write({ agent: "dev", msg: "followed" });
  await shows({ "#log .line >> nth=-1": /followed/ });
  await expect.poll(() => distanceToBottom(page)).toBe(0);
});

test("Clear empties the display of the log only", async () => {
  const { page, deps, shows, press } = await openWith(20);
  await shows({ "#log .line": 20 });
  await press("Clear");
  await shows({ "#log .line": 0 });
  deps.logs.write({ agent: "dev", msg: "after" });
  await shows({ "#log .line": 1 });
  await page.reload();
  await shows({ "#log .line": 21 });
});

test("log lines of another day are below that day", async () => {
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
  const { page, shows } = await openWith(0, deps);
  const headings = page.locator(".day-heading:visible");
  await shows({ ".day-heading:visible": 3 });
  const days = (await headings.allInnerTexts()).map((text) => new Date(text).toDateString());
  const daysAgo = (ago: number) => new Date(Date.now() - ago * day).toDateString();
  expect(days).toEqual([2, 1, 0].map(daysAgo));
  await shows({ "#log": /dev-a.* first .* second .*20\d\d .* third .*20\d\d .* last/ });
  await page.getByLabel("Show only lines with this text").fill("third");
  await shows({ ".day-heading:visible": 1 });
});

test("screen readers get the levels of lines, and INFO takes no room", async () => {
  const deps = testDeps();
  for (const level of [30, 40, 50] as const) deps.logs.write({ agent: "dev", level, msg: "m" });
  const { page, shows } = await openWith(0, deps);
  await shows({ "#log .level": ["INFO", "WARN", "ERROR"] });
  const places = await page.evaluate(
    `[".info .level", ".warn .level"].map((level) =>
      getComputedStyle(document.querySelector(level)).position)`,
  );
  expect(places).toEqual(["absolute", "static"]);
});

test("a log line shows its time if it differs from the line before", async () => {
  const deps = testDeps();
  const time = Date.parse("2026-11-22T10:00:00.100Z");
  for (const after of [0, 500, 1_000, 1_400]) {
    deps.logs.write({ agent: "dev", msg: `after ${after}`, time: time + after });
  }
  const { page, shows } = await openWith(0, deps);
  const rows = page.locator("#log .line");
  await shows({ "#log .line": 4 });
  const shown = () =>
    page.evaluate(
      `[...document.querySelectorAll("#log .at")].map((at) => getComputedStyle(at).opacity)`,
    );
  await expect.poll(shown).toEqual(["1", "0", "1", "0"]);
  await rows.nth(1).hover();
  await expect.poll(shown).toEqual(["1", "1", "1", "0"]);
  // A reader of the screen has every time.
  await expect.poll(() => rows.nth(3).ariaSnapshot()).toContain(":01");
});

test("no log line is cut on a narrow screen", async () => {
  const width = 320;
  const { page, shows, fits } = await openWith(3);
  await shows({ "#log .line": 3 });
  await fits(width);
  for (const id of ["follow", "text-filter", "log"]) {
    const box = await page.locator(`#${id}`).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  }
});
