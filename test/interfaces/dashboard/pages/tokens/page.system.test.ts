import { sharedBrowser } from "../../open-page.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();
const path = "/dashboard/tokens";

test("a person makes a token, sees it once, and removes it", async () => {
  const { page, deps, shows, press } = await open(path);
  await untilLive(page);
  await shows({ "#tokens-none": true });
  await page.getByLabel("Name").fill("claude");
  await page.getByLabel("trigger").check();
  await page.getByLabel("Only these agents").fill("dev");
  await press("Create");
  const token = (await page.locator("#created pre").innerText()).trim();
  expect(deps.context.tokens.use(token)).toMatchObject({
    name: "claude",
    scopes: ["read", "trigger"],
    agents: ["dev"],
  });
  const row = page.locator("#tokens tr");
  await shows({ "#tokens tr": /^claude\s+read, trigger\s+dev\s/ });
  expect(deps.operations.acts[0]).toMatchObject({ act: "token-new", by: { via: "login" } });
  await page.reload();
  await expect.poll(() => page.content()).not.toContain(token);
  await untilLive(page);
  await row.getByRole("button", { name: "Remove the token claude" }).click();
  await row.getByRole("button", { name: "Really remove?" }).click();
  await shows({ "#tokens tr": 0 });
  expect(deps.context.tokens.use(token)).toBeNull();
});

test("the page Tokens says why a token was refused, and keeps the fields", async () => {
  const { page, deps, press } = await open(path);
  await untilLive(page);
  await page.getByLabel("Name").fill("claude");
  await page.getByLabel("Only these agents").fill("zebra");
  await press("Create");
  await page.locator("#toasts").getByText('There is no agent "zebra".').waitFor();
  await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("claude");
  expect(deps.context.tokens.list().tokens).toEqual([]);
});

test("the page Tokens works without a script", async () => {
  const { page, url, deps } = await open(path);
  const { request } = page.context();
  const post = async (address: string, form: Record<string, string>) => {
    const headers = { origin: url, accept: "text/html" };
    return request.post(url + address, { form, headers, maxRedirects: 0 });
  };
  const fields = { name: "ci", read: "true", answer: "true", agents: "", days: "7" };
  const made = await post(path, fields);
  const html = await made.text();
  expect([made.status(), made.headers()["cache-control"]]).toEqual([200, "no-store"]);
  const token = /al_[\w-]{43}/.exec(html)?.[0] ?? "";
  expect(deps.context.tokens.use(token)).toMatchObject({
    scopes: ["read", "answer"],
    agents: null,
  });
  const again = await post(path, { ...fields, name: "Ci" });
  expect([again.status(), await again.text()]).toEqual([
    400,
    expect.stringContaining("a name has"),
  ]);
  const removed = await post(`${path}/ci/remove`, {});
  expect([removed.status(), removed.headers().location]).toEqual([303, path]);
  expect(deps.context.tokens.use(token)).toBeNull();
  expect(deps.operations.acts.map(({ act }) => act).slice(0, 2)).toEqual([
    "token-remove",
    "token-new",
  ]);
});
