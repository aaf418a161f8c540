import { exchange, statusesIn } from "../raw-http.ts";
import { helloScheduler } from "./hello-scheduler.ts";

const scheduler = helloScheduler();

/** Expects that a request with these lines is rejected. */
async function refused(start: string, key: string, ...lines: readonly string[]): Promise<void> {
  const head = [start, `Authorization: Bearer ${key}`, "Connection: close", ...lines, "", ""];
  const said = await exchange(scheduler().url, head.join("\r\n"));
  expect(said).not.toContain('"agents"');
  expect(statusesIn(said)).toEqual([expect.toSatisfy((status: number) => status >= 400)]);
}

const get = "GET /control/status HTTP/1.1";
test.each([
  ["the port", get, "Host: evil.example:8080"],
  ["the right name in front", get, "Host: localhost.evil.example"],
  ["the right name behind", get, "Host: evil.example/localhost"],
  ["a name and an @", get, "Host: localhost@evil.example"],
  [
    "a name that a proxy is said to have seen",
    get,
    "Host: evil.example\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost",
  ],
  ["another address of loopback", get, "Host: 127.0.0.2"],
  ["no name", get, "Host: "],
  ["an address in the request line", "GET http://localhost/ HTTP/1.1", "Host: evil.example"],
  ["two names, the right one first", get, "Host: localhost\r\nHost: evil.example"],
  ["two names, the right one last", get, "Host: evil.example\r\nHost: localhost"],
  ["no Host", get, "X: y"],
  ["no Host, as HTTP/1.0", "GET /control/status HTTP/1.0", "X: y"],
])(
  "a web page whose host name was rebound to this machine (DNS rebinding) gets no data with %s",
  (_how, start, lines) => refused(start, scheduler().apiKey, lines),
);

test("forwarding headers without a trusted proxy do not make a foreign origin the server's own", async () => {
  const { url, apiKey } = scheduler();
  const headers = {
    origin: "http://evil.example",
    "x-forwarded-host": "evil.example",
    "content-type": "application/json",
  };
  const body = JSON.stringify({ key: apiKey });
  const answered = await fetch(`${url}/login`, { method: "POST", headers, body });
  expect(answered.status).toBe(403);
});

const spellings = String.raw`/%63ontrol/status //control/status /./control/status
/control/../control/status /control/status/ /control/status;x /CONTROL/STATUS /control%2fstatus
\control\status /control/status%00 *`;
test.each(spellings.split(/\s/))(
  "an unusually written URL gives a client without the key no more than the plain URL: %s",
  (path) => refused(`GET ${path} HTTP/1.1`, "none", "Host: localhost"),
);
