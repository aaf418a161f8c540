import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { fillCompileCache } from "../../../src/runtime/harness/fill-compile-cache.ts";

test("the run that fills an image's compile cache calls its model through the run's proxy and socket", async () => {
  const asked: Pick<IncomingMessage, "url" | "headers">[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume();
    response.writeHead(400, { "content-type": "application/json" }).end("{}");
  });
  const socket = `\0al-test-${process.pid}`;
  await once(server.listen(socket), "listening");
  onTestFinished(() => void server.close());
  let isClosed = false;
  const close = () => Promise.resolve(void (isClosed = true));
  await fillCompileCache(() => Promise.resolve({ socket, token: "the-token", close }));
  expect(asked.map(({ url }) => url)).toEqual(["/model/rehearsal/scripted/v1/chat/completions"]);
  expect(asked[0]?.headers.authorization).toBe("Bearer the-token");
  expect(isClosed).toBe(true);
});
