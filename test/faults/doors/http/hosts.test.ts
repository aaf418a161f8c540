import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { withHelloScheduler } from "./hello-scheduler.ts";

let scheduler: TestScheduler;
withHelloScheduler((started) => (scheduler = started));

async function answer(start: string, headers: Record<string, string | readonly string[]>) {
  const lines = Object.entries({
    authorization: `Bearer ${scheduler.apiKey}`,
    connection: "close",
    ...headers,
  });
  const text = lines.flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`));
  const said = await exchange(scheduler.url, `${start} HTTP/1.1\r\n${text.join("")}\r\n`);
  return { said, statuses: statusesIn(said) };
}

test.each([
  ["by its own name", "GET /control/status", { host: "evil.example" }],
  ["with the port", "GET /control/status", { host: "evil.example:8080" }],
  ["with the right name in front", "GET /control/status", { host: "localhost.evil.example" }],
  ["with the right name behind", "GET /control/status", { host: "evil.example/localhost" }],
  ["with a name and an @", "GET /control/status", { host: "localhost@evil.example" }],
  [
    "with a name that a proxy is said to have seen",
    "GET /control/status",
    { host: "evil.example", "x-forwarded-host": "localhost", forwarded: "host=localhost" },
  ],
  ["with another address of loopback", "GET /control/status", { host: "127.0.0.2" }],
  ["with no name", "GET /control/status", { host: "" }],
  [
    "with an address in the request line",
    "GET http://localhost/control/status",
    { host: "evil.example" },
  ],
])(
  "a page of a site whose name was rebound to this machine gets nothing: %s",
  async (_how, start, headers) => {
    const { said, statuses } = await answer(start, headers);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    expect(said).not.toContain('"agents"');
  },
);

test("a page of a site whose name was rebound to this machine gets nothing with two names, one of them right", async () => {
  const { said } = await answer("GET /control/status", { host: ["localhost", "evil.example"] });
  const other = await answer("GET /control/status", { host: ["evil.example", "localhost"] });
  expect(statusesIn(said)).toEqual([400]);
  expect(other.statuses).toEqual([400]);
});

test("a page of a site whose name was rebound to this machine gets nothing without a Host, even as HTTP/1.0", async () => {
  const key = `Authorization: Bearer ${scheduler.apiKey}\r\n`;
  for (const version of ["1.0", "1.1"]) {
    const said = await exchange(
      scheduler.url,
      `GET /control/status HTTP/${version}\r\n${key}Connection: close\r\n\r\n`,
    );
    expect(said).not.toContain('"agents"');
  }
});

test("forwarding headers without a trusted proxy change no client's address: guesses are still slowed down", async () => {
  const began = performance.now();
  for (let n = 0; n < 5; n += 1) {
    const body = JSON.stringify({ key: `wrong-${n}` });
    const headers = {
      "content-type": "application/json",
      "x-forwarded-for": `10.0.0.${n}`,
      forwarded: `for=10.0.0.${n}`,
    };
    await fetch(`${scheduler.url}/login`, { method: "POST", headers, body });
  }
  expect(performance.now() - began).toBeGreaterThan(1_900);
});

test("forwarding headers without a trusted proxy do not turn a foreign origin into the own one", async () => {
  const headers = { origin: "http://evil.example", "x-forwarded-host": "evil.example" };
  const body = JSON.stringify({ key: scheduler.apiKey });
  const sent = { ...headers, "content-type": "application/json", "x-forwarded-for": "10.9.9.9" };
  const answered = await fetch(`${scheduler.url}/login`, { method: "POST", headers: sent, body });
  expect(answered.status).toBe(403);
});

test.each([
  "/%63ontrol/status",
  "//control/status",
  "/./control/status",
  "/control/../control/status",
  "/control/status/",
  "/control/status;x",
  "/CONTROL/STATUS",
  "/control%2fstatus",
  "\\control\\status",
  "/control/status%00",
  "*",
])(
  "an oddly written address gives a client without the key no more than the plain one: %s",
  async (path) => {
    const { said } = await answer(`GET ${path}`, {
      host: "localhost",
      authorization: "Bearer none",
    });
    expect(said).not.toContain('"agents"');
    expect(statusesIn(said)[0]).toBeGreaterThanOrEqual(400);
  },
);
