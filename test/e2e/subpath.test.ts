import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { openBrowser } from "../helpers/browser.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { shows } from "../interfaces/dashboard/shows.ts";
import { listen } from "../helpers/listen.ts";

const base = "/al";

/** A reverse proxy that passes `/al` and nothing else, with or without `/al` in the request; notes other requests. */
async function startProxy(port: () => string, keepsPath: boolean) {
  const strays: string[] = [];
  const pass = (message: IncomingMessage, response: ServerResponse): void => {
    const { url = "", method = "GET", headers } = message;
    if (!url.startsWith(`${base}/`)) {
      strays.push(`${method} ${url}`);
      response.writeHead(404).end();
      return;
    }
    const options = {
      host: "127.0.0.1",
      port: port(),
      path: keepsPath ? url : url.slice(base.length),
      method,
      headers: { ...headers, "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" },
    };
    const passed = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    message.pipe(passed);
  };
  const server = createServer(pass);
  onTestFinished(() => void server.close().closeAllConnections());
  return { origin: `http://proxy.localhost:${await listen(server)}`, strays };
}

test.each([
  ["keeps the path", true],
  ["strips the path", false],
])(
  "the dashboard of examples/deploy and the links of al open work below the path of publicUrl, behind a proxy that %s",
  async (_, keepsPath) => {
    const project = await LiveProject.copy("examples/deploy");
    const { origin, strays } = await startProxy(
      () => new URL(project.scheduler.url).port,
      keepsPath,
    );
    const root = `${origin}${base}`;
    await project.edit("config.toml", /# (publicUrl = ").*?"/, `$1${root}"`);
    await project.edit("config.toml", '["al.example.org"]', '["proxy.localhost"]');
    await project.start();
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const at = (path: string) => page.waitForURL(`${root}${path}`);

    await page.goto(`${root}/dashboard/agents/nightly`);
    await page.getByLabel(/key/i).fill(project.scheduler.apiKey);
    await page.keyboard.press("Enter");
    await at("/dashboard/agents/nightly");
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ name: "al_session", path: `${base}/` }]);

    await page.getByRole("link", { name: "Agents", exact: true }).first().click();
    await at("/dashboard");
    // Lists what the browser renders after the event stream has reported the run.
    await page.getByRole("button", { name: "Run nightly", exact: true }).click();
    await shows(page, { 'tr[data-agent="nightly"] .last-run': /succeeded/ });
    await page.locator(`a[href^="${base}/"]`).nth(5).waitFor();
    await shows(page, { [`a[href^="/"]:not([href^="${base}/"])`]: 0 });

    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await at("/dashboard/triggers");
    await page.goto(`${root}/dashboard/agents/nightly/logs`);
    await shows(page, { "[role=log]": /run succeeded/ });
    await page.goto(`${root}/logout`);
    await at("/login");
    await page.goto((await project.print("open")).trim());
    await at("/dashboard");
    expect(strays.filter((one) => !one.endsWith("/favicon.ico"))).toEqual([]);
  },
  120_000,
);
