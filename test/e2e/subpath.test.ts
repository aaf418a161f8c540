import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openBrowser } from "../helpers/browser.ts";
import { LiveProject } from "../helpers/live-project.ts";

const base = "/al";

interface Proxy {
  readonly origin: string;
  /** Requests that a proxy of `/al` alone would not pass. */
  readonly strays: string[];
}

/** A reverse proxy that passes `/al` and nothing else, with or without `/al` in the request. */
async function startProxy(port: () => number, keepsPath: boolean): Promise<Proxy> {
  const strays: string[] = [];
  const pass = (message: IncomingMessage, response: ServerResponse): void => {
    const { url: path = "", method = "GET" } = message;
    if (!path.startsWith(`${base}/`)) {
      strays.push(`${method} ${path}`);
      response.writeHead(404).end();
      return;
    }
    const headers = {
      ...message.headers,
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
    };
    const passed = request(
      {
        host: "127.0.0.1",
        port: port(),
        path: keepsPath ? path : path.slice(base.length),
        method,
        headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    message.pipe(passed);
  };
  const server = createServer(pass).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://proxy.localhost:${(server.address() as AddressInfo).port}`, strays };
}

test.each([
  ["keeps the path", true],
  ["strips the path", false],
])(
  "the dashboard works below the path of publicUrl, behind a proxy that %s",
  async (_, keepsPath) => {
    const project = await LiveProject.copy("examples/deploy");
    const { origin, strays } = await startProxy(
      () => Number(new URL(project.scheduler.url).port),
      keepsPath,
    );
    await project.edit("config.toml", "https://al.example.org", `${origin}${base}`);
    await project.edit("config.toml", '["al.example.org"]', '["proxy.localhost"]');
    const { apiKey } = await project.start();
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const at = (path: string) => page.waitForURL(`${origin}${base}${path}`);

    await page.goto(`${origin}${base}/dashboard/agents/nightly`);
    expect(new URL(page.url()).pathname).toBe(`${base}/login`);
    await page.getByLabel(/key/i).fill(apiKey);
    await page.keyboard.press("Enter");
    await at("/dashboard/agents/nightly");
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ name: "al_session", path: `${base}/` }]);

    await page.getByRole("link", { name: "Agents", exact: true }).first().click();
    await at("/dashboard");
    // Lists what the browser renders after the event stream has reported the run.
    await page.getByRole("button", { name: "Run nightly" }).click();
    await page.locator('tr[data-agent="nightly"]').getByText("succeeded").first().waitFor();
    const links = await page
      .locator("a[href^='/']")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((href) => !href.startsWith(`${base}/`))).toEqual([]);

    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await at("/dashboard/triggers");
    await page.goto(`${origin}${base}/dashboard/agents/nightly/logs`);
    await page.getByRole("log").getByText("run succeeded").first().waitFor();
    await page.goto(`${origin}${base}/logout`);
    await at("/login");
    expect(strays.filter((one) => !one.endsWith("/favicon.ico"))).toEqual([]);
  },
  120_000,
);

test("al open leads to publicUrl, and its link logs in below the path", async () => {
  const project = await LiveProject.copy("examples/deploy");
  await project.edit("config.toml", "https://al.example.org", "https://example.org/al");
  await project.start();
  const link = new URL((await project.print("open")).trim());
  expect(link.origin).toBe("https://example.org");
  const local = new URL(link.pathname, project.scheduler.url);
  const opened = await fetch(local, { redirect: "manual" });
  expect(opened.headers.get("set-cookie")).toContain("Path=/al/");
  expect(opened.headers.get("location")).toBe("/al/dashboard");
});
