import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { firstData } from "../../../../src/runtime/run-api/egress/client-hello.ts";
import { hello } from "./hellos.ts";

let run: Socket;
let client: Socket;
beforeEach(async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  run = connect((server.address() as AddressInfo).port, "127.0.0.1");
  [client] = (await once(server, "connection")) as [Socket];
  server.close();
});
afterEach(() => {
  run.destroy();
  client.destroy();
});

/** What is read of the connection when the run sends these, one after the other. */
async function dataOf(isTls: boolean, ...parts: readonly Buffer[]) {
  const found = firstData(client, { isTls });
  for (const part of parts) {
    run.write(part);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return found;
}

test("the first bytes of a connection are awaited until the hello is complete, and put back", async () => {
  const bytes = hello();
  const parts = [bytes.subarray(0, 1), bytes.subarray(1, 60), bytes.subarray(60)];
  expect(await dataOf(true, ...parts)).toEqual({ type: "hello", serverName: "api.allowed.test" });
  const [again] = (await once(client.resume(), "data")) as [Buffer];
  expect(again).toEqual(bytes);
});

test("the first bytes of a connection may be anything on a port without TLS, and are put back", async () => {
  expect(await dataOf(false, Buffer.from("SSH-2.0-x\r\n"))).toEqual({ type: "plain" });
  const [again] = (await once(client.resume(), "data")) as [Buffer];
  expect(again.toString()).toBe("SSH-2.0-x\r\n");
});

test("the first bytes of a connection are a hello on every port once they begin as one", async () =>
  expect(await dataOf(false, hello({ names: ["x.test"] }))).toEqual({
    type: "hello",
    serverName: "x.test",
  }));

test("the first bytes of a connection are rejected at the first byte that is not TLS", async () =>
  expect(await dataOf(true, Buffer.from("G"))).toMatchObject({ type: "malformed" }));

test("the first bytes of a connection are reported as nothing if the run ends before", async () => {
  const found = dataOf(true, hello().subarray(0, 20));
  run.end();
  expect(await found).toEqual({ type: "nothing" });
});
