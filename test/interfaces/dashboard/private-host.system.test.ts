import { createServer } from "node:http";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "../../helpers/browser.ts";
import { TestReceiver, source } from "../../features/webhooks/test-receiver.ts";
import { apiKey, startTcp, testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { listen } from "../../helpers/listen.ts";

let browser: Browser;
beforeAll(async () => void (browser = await openBrowser()));
afterAll(() => browser.close());

const safari =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15";

async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
}

async function start(deps: TestDeps = testDeps()) {
  const url = (await startTcp(deps)).replace("127.0.0.1", "localhost");
  return { deps, url, own: url.replace("localhost", deps.sessions.privateHost) };
}

async function logIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/dashboard/triggers`);
  await page.getByLabel("API key").fill(apiKey);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/dashboard\/triggers$/);
}

/** A server of somebody else on another port of this machine, and the cookies that browsers brought it. */
async function otherServer(page = "") {
  const cookies: string[] = [];
  const server = createServer(({ headers }, response) => {
    cookies.push(headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.setHeader("set-cookie", "al_session=planted-by-another-port; Path=/");
    response.end(page);
  });
  onTestFinished(() => void server.close());
  return { port: await listen(server), cookies };
}

test("a login by key at localhost ends on the private host, and other ports get no session", async () => {
  const { url, own } = await start();
  const context = await newContext();
  const page = await context.newPage();
  await logIn(page, url);
  await expect.poll(() => page.url()).toBe(`${own}/dashboard/triggers`);
  const other = await otherServer();
  for (const name of ["localhost", "127.0.0.1", "almanac.localhost"]) {
    await page.goto(`http://${name}:${other.port}/`);
  }
  const token = (await context.cookies()).find(({ value }) => value.length === 43);
  expect(token).toMatchObject({ name: "al_session", domain: new URL(own).hostname });
  expect(token).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  expect(other.cookies.join()).not.toContain(token?.value);
  // The address that the start prints still leads there, without another login.
  await page.goto(`${url}/dashboard/cost`);
  await page.waitForURL(`${own}/dashboard/cost`);
});

test("two schedulers of different users keep their sessions in one browser", async () => {
  const [one, two] = [await start(), await start()];
  const page = await (await newContext()).newPage();
  await logIn(page, one.url);
  await logIn(page, two.url);
  for (const { url, own } of [one, two, one]) {
    await page.goto(`${url}/dashboard`);
    await page.waitForURL(`${own}/dashboard`);
  }
});

test("Safari, which can't resolve the private host, is logged in at localhost, planted cookies or not", async () => {
  const { url } = await start();
  const page = await (await newContext({ userAgent: safari })).newPage();
  await logIn(page, url);
  await expect.poll(() => page.url()).toBe(`${url}/dashboard/triggers`);
  const script = `document.cookie = "al_session=${"x".repeat(43)}; path=/dashboard"`;
  const other = await otherServer(`<script>${script}</script>`);
  await page.route(`**:${other.port}/**`, (route) =>
    route.fulfill({ contentType: "text/html", body: `<script>${script}</script>` }),
  );
  await page.goto(`http://localhost:${other.port}/`);
  await page.goto(`${url}/dashboard`);
  await expect.poll(() => page.url()).toBe(`${url}/dashboard`);
});

test("cookies that another port plants for localhost lock no user out", async () => {
  const { url, own } = await start();
  const page = await (await newContext()).newPage();
  const other = await otherServer(
    `<script>for (const path of ["/", "/dashboard", "/login"]) document.cookie = "al_session=x; path=" + path</script>`,
  );
  await logIn(page, url);
  await page.goto(`http://localhost:${other.port}/`);
  await page.goto(`${url}/dashboard`);
  await page.waitForURL(`${own}/dashboard`);
});

test("no answer to a client without the key names the private host", async () => {
  const { deps, url } = await start();
  const browserLike = { accept: "text/html", "user-agent": "Chrome/156.0" };
  for (const path of [
    "/",
    "/login",
    "/dashboard",
    "/login/unknown",
    "/health",
    "/openapi.json",
    "/none",
  ]) {
    const answer = await fetch(url + path, { headers: browserLike, redirect: "manual" });
    const text = JSON.stringify([...answer.headers]) + (await answer.text());
    expect(text, path).not.toContain(deps.sessions.privateHost.split(".")[0]);
  }
});

test("a web page can't trigger an unsigned source, a program can", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("open", { type: "gitlab", credential: null, allowUnsigned: true })];
  const deps = testDeps();
  deps.operations.receiveWebhook = (delivery) => receiver.receive(delivery);
  const { url } = await start(deps);
  const target = `${url}/webhooks/gitlab`;
  const body = JSON.stringify({ object_kind: "issue" });
  const other = await otherServer(
    `<form method="post" enctype="text/plain" action="${target}"><input name='{"object_kind":"issue","x":"' value='"}'></form>`,
  );
  const page = await (await newContext()).newPage();
  await page.goto(`http://127.0.0.1:${other.port}/`);
  // The browser hides the answer from the page.
  const asked = page.evaluate(
    ([to = "", text = ""]) => fetch(to, { method: "POST", mode: "no-cors", body: text }),
    [target, body],
  );
  await expect(asked).rejects.toThrow("Failed to fetch");
  await page.evaluate("document.forms[0].submit()");
  await page.getByText("foreign_origin").waitFor();
  expect(receiver.accepted).toEqual([]);
  expect((await fetch(target, { method: "POST", body })).status).toBe(200);
});
