import { once } from "node:events";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { firstData } from "../../../../src/runtime/run-api/egress/client-hello.ts";
import { hello } from "./hellos.ts";

/** What is read of a connection that brings these bytes, and the bytes that come from it afterwards. */
async function dataOf(isTls: boolean, ...parts: readonly Buffer[]) {
  const client = new PassThrough();
  const found = firstData(client as unknown as Socket, { isTls });
  for (const part of parts) client.write(part);
  const data = await found;
  const [again] = (await once(client.resume(), "data")) as [Buffer];
  return { data, again };
}

const named = (serverName: string) => ({ type: "hello", serverName });

describe("the first bytes of a connection", () => {
  test("are awaited until the hello is complete, and put back", async () => {
    const again = hello();
    const parts = [again.subarray(0, 1), again.subarray(1, 60), again.subarray(60)];
    expect(await dataOf(true, ...parts)).toEqual({ data: named("api.allowed.test"), again });
  });

  test("may be anything on a port without TLS, and are put back", async () => {
    const again = Buffer.from("SSH-2.0-x\r\n");
    expect(await dataOf(false, again)).toEqual({ data: { type: "plain" }, again });
  });

  test("are a hello on every port once they begin as one", async () => {
    const { data } = await dataOf(false, hello({ names: ["x.test"] }));
    expect(data).toEqual(named("x.test"));
  });

  test("are reported as nothing if the run ends before", async () => {
    const client = new PassThrough();
    const found = firstData(client as unknown as Socket, { isTls: true });
    client.end(hello().subarray(0, 20));
    expect(await found).toEqual({ type: "nothing" });
  });
});
