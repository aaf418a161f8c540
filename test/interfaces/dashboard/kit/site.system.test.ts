import { sharedBrowser } from "../open-page.ts";

const open = sharedBrowser();

test("the header's search leads to the search page, and is a link on a phone", async () => {
  const { page, url, shows } = await open("/dashboard/triggers");
  await page.setViewportSize({ width: 360, height: 700 });
  await shows({ ".site-search": false, "nav.pages a[href='/dashboard/search']": true });
  await page.setViewportSize({ width: 1280, height: 800 });
  const box = page.getByRole("searchbox", { name: "Search all logs" });
  await box.fill(`"exit 3" & more`);
  await box.press("Enter");
  await page.waitForURL(`${url}/dashboard/search?q=%22exit+3%22+%26+more`);
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
