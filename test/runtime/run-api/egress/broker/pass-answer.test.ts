import { once } from "node:events";
import { get, ServerResponse, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { listen } from "../../../../helpers/listen.ts";
import { maskOf } from "../../../../../src/runtime/run-api/masked-bytes.ts";
import { passAnswer } from "../../../../../src/runtime/run-api/egress/broker/exchange.ts";

test("passAnswer rejects a response in an unknown transfer coding", async () => {
  const coded = gzipSync("the secret");
  const host = createServer((socket) => {
    socket.on("error", () => undefined).resume();
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n");
    socket.write(`${coded.length.toString(16)}\r\n`);
    socket.end(Buffer.concat([coded, Buffer.from("\r\n0\r\n\r\n")]));
  });
  const sent = get({ host: "127.0.0.1", port: await listen(host) });
  sent.on("error", () => undefined);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.on("error", () => undefined);
  const passed = passAnswer(answer, new ServerResponse(answer), {
    masks: [maskOf("the secret")],
    isHead: false,
  });
  await expect(passed).rejects.toThrow('it answers in the transfer coding "gzip, chunked"');
  host.close();
});
