import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { pause } from "../../helpers/pause.ts";
import { limitOpenRequests } from "../../../src/foundation/contracts/request-limit.ts";

let [open, mostOpen, handled] = [0, 0, 0];
let answer: RequestListener;
let server: Server;
beforeEach(async () => {
  answer = (_request, response) => response.end("x".repeat(7_500));
  server = createServer(limitOpenRequests(), (request, response) => {
    mostOpen = Math.max(mostOpen, ++open);
    handled += 1;
    response.once("close", () => (open -= 1));
    answer(request, response);
  });
  server.on("connect", (_request, connection) => {
    handled += Number(!connection.destroyed);
    connection.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const request = (line: string, headers = "", body = "") =>
  `${line}\r\nHost: localhost\r\n${headers}\r\n${body}`;
const requests = [
  request("GET / HTTP/1.1"),
  request("HEAD / HTTP/1.1"),
  request("GET / HTTP/1.0", "Connection: keep-alive\r\n"),
  request("OPTIONS * HTTP/1.1", "Upgrade: websocket\r\nConnection: Upgrade\r\n"),
  request("POST / HTTP/1.1", "Content-Length: 2\r\n", "{}"),
  request("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
  request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n", "{}"),
  request("CONNECT localhost:1 HTTP/1.1"),
];

/** Sends the text in two pieces, without a turn between answers to read them; resolves when the server hung up. */
async function send(text: string, cut: number, isRead: boolean): Promise<void> {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  if (isRead) client.resume();
  const closed = once(client, "close");
  client.write(text.slice(0, cut));
  await turn();
  client.end(text.slice(cut));
  if (!isRead) void pause(20, "answers are read late").then(() => client.resume());
  await closed;
}

test.each([
  ["answers at once", 4, () => undefined],
  ["never answers", 2, () => (answer = () => undefined)],
])(
  "a server with a limit of open requests handles few pipelined requests at a time if it %s",
  async (_how, most, set) => {
    set();
    const texts = fc.array(fc.constantFrom(...requests), { minLength: 3, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(300), fc.boolean(), async (some, cut, isRead) => {
        [open, mostOpen, handled] = [0, 0, 0];
        await send(some.join("").repeat(100), cut, isRead);
        expect(mostOpen).toBeLessThanOrEqual(2);
        expect(handled).toBeLessThanOrEqual(most);
      }),
      { numRuns: 25 },
    );
  },
);
