import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { limitOpenRequests } from "../../../src/foundation/contracts/request-limit.ts";
import { refuseChunked } from "../../../src/runtime/run-api/run-socket.ts";
import { pause } from "../../helpers/pause.ts";
import { listen } from "../../helpers/listen.ts";

test("a request body in one-byte chunks is read in few pieces", async () => {
  let pieces = 0;
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    await pause(100, "the body arrives before it is read");
    request.on("data", () => (pieces += 1)).once("end", () => response.end("read"));
  };
  const server = createServer(
    limitOpenRequests(2, refuseChunked),
    (request, response) => void read(request, response),
  );
  onTestFinished(() => void server.close());
  const client = connect(await listen(server), "127.0.0.1");
  const headers = "Host: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  client.write(`POST http://a.test/ HTTP/1.1\r\n${headers}`);
  client.write(`${"1\r\nx\r\n".repeat(5_000)}0\r\n\r\n`);
  expect(await text(client)).toMatch(/read$/);
  expect(pieces).toBeLessThan(10);
});
