import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { limitOpenRequests } from "../../../src/foundation/contracts/request-limit.ts";
import { refuseChunked } from "../../../src/runtime/run-api/run-socket.ts";

async function answerTo(url: string, body: string, onRequest: RequestListener): Promise<string> {
  const options = limitOpenRequests(2, refuseChunked);
  const server = createServer(options, onRequest).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write(
    `POST ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  client.write(body);
  return (await buffer(client)).toString("latin1");
}

const ofBytes = (count: number) => `${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`;

test("a body in one-byte chunks for a host is gathered until it is read, and read completely", async () => {
  let pieces = 0;
  const answer = await answerTo("http://a.test/", ofBytes(5_000), (request, response) => {
    setTimeout(() => {
      request.on("data", () => (pieces += 1)).once("end", () => response.end("read"));
    }, 100);
  });
  expect(answer).toMatch(/read$/);
  expect(pieces).toBeLessThan(10);
});

test("a chunked request to the scheduler itself is rejected without reading its body", async () => {
  const seen: IncomingMessage[] = [];
  const answer = await answerTo("/run/lock", ofBytes(5_000), (request) => seen.push(request));
  expect(answer).toMatch(/^HTTP\/1\.1 411 /);
  expect(seen).toEqual([]);
});
