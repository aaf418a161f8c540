import { sharedBrowser } from "../open-page.ts";

const open = sharedBrowser();

test("the pages are a rail at the left, and on a phone a bar at the lower edge with every count", async () => {
  const { page, deps, shows } = await open("/dashboard/triggers");
  deps.operations.setScheduler({ questions: 12, alerts: { open: 120, dead: 0 } });
  await shows({ "#question-count": "12 open", "#alert-count": "120 open or undelivered" });
  await page.setViewportSize({ width: 360, height: 700 });
  for (const link of await page.locator("nav.pages > :visible").all()) {
    const box = await link.boundingBox();
    expect(box).toMatchObject({ y: expect.closeTo(652, -1) as number });
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
    expect(box?.width).toBeGreaterThan(36);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(async () => (await page.locator("nav.pages").boundingBox())?.height).toBe(800);
});

test("after a logout, Back asks for the page again and leads to the login", async () => {
  const { page, url } = await open("/dashboard/cost");
  await page.goto(`${url}/logout`);
  const [answer] = await Promise.all([
    page.waitForResponse(`${url}/dashboard/cost`),
    page.goBack(),
  ]);
  expect(answer.status()).toBe(302);
  await expect.poll(() => page.title()).toBe("Log in · Almanac");
});
