import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import {
  maxHelloBytes,
  readFirstBytes,
} from "../../../../src/runtime/run-api/egress/client-hello.ts";
import { listen } from "../../../helpers/listen.ts";
import { extension, hello, helloMessage, records, serverNames } from "./hellos.ts";
import type { HelloOptions } from "./hellos.ts";

const named = (serverName: string | null) => ({ type: "hello", serverName });
const padding = (bytes: number): readonly [number, Buffer] => [21, Buffer.alloc(bytes)];

/** The hello that Node's own client sends. */
async function realHello(servername: string): Promise<Buffer> {
  const server = createServer();
  const client = connect({ port: await listen(server), host: "127.0.0.1", servername });
  client.on("error", () => undefined);
  const [connection] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(connection, "data")) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

describe("the server name in a TLS hello", () => {
  test("is read from a hello of Node once that is complete", async () => {
    const bytes = await realHello("api.allowed.test");
    expect(readFirstBytes(bytes)).toEqual(named("api.allowed.test"));
    for (let end = 0; end < bytes.length; end += 1) {
      expect(readFirstBytes(bytes.subarray(0, end))).toEqual({ type: "incomplete" });
    }
  });

  test.each([1, 600])("is read from records of %i bytes", (size) => {
    const bytes = records(helloMessage({ extensions: [padding(500)] }), size);
    expect(readFirstBytes(bytes)).toEqual(named("api.allowed.test"));
    expect(readFirstBytes(bytes.subarray(0, -1))).toEqual({ type: "incomplete" });
  });

  test("is read from a long hello before a record of another type", () => {
    const early = records(Buffer.alloc(40_000), 16_384, 23);
    const long = hello({ extensions: [padding(15_000)] });
    expect(readFirstBytes(Buffer.concat([long, early]))).toEqual(named("api.allowed.test"));
  });

  test.each<[string, HelloOptions, string | null]>([
    ["kept as written", { names: ["API.Allowed.Test."] }, "API.Allowed.Test."],
    ["null without the extension", { names: null }, null],
    ["null without extensions", { isOld: true }, null],
    [
      "the outer one of an encrypted hello",
      { names: ["outer.test"], extensions: [[0xfe0d, Buffer.alloc(200, 7)]] },
      "outer.test",
    ],
  ])("is %s", (_what, options, name) =>
    expect(readFirstBytes(hello(options))).toEqual(named(name)),
  );
});

/** A hello with one byte changed. */
const changed = (at: number, value: number): Buffer => {
  const bytes = hello();
  bytes[at] = value;
  return bytes;
};
const other = serverNames(["other.test"]);
const alert = records(Buffer.from([1, 0]), 16_384, 21);
const message = helloMessage();

test.each<[string, Buffer]>([
  ["the first byte of plain HTTP", Buffer.from("G")],
  ["a record of an unknown version", changed(1, 4)],
  ["a record of a later minor version", changed(2, 9)],
  ["another message first", Buffer.from([22, 3, 1, 0, 9, 2])],
  ["a hello of an unknown version", changed(9, 2)],
  ["a session's ID that is too long", changed(43, 255)],
  ["a record without content", Buffer.concat([Buffer.from([22, 3, 1, 0, 0]), hello()])],
  [
    "a record of another type between two parts",
    Buffer.concat([records(message.subarray(0, 50)), alert, records(message.subarray(50))]),
  ],
  ["several names", hello({ names: ["api.allowed.test", "other.test"] })],
  ["no name in the extension", hello({ names: [] })],
  ["an empty name", hello({ names: [""] })],
  ["a name of another type", hello({ nameType: 1 })],
  ["a name with a zero", hello({ names: ["api.allowed.test\0.other.test"] })],
  ["a name outside of ASCII", hello({ names: ["m\u00fcnchen.test"] })],
  ["an extension twice", hello({ extensions: [[0, other]] })],
  ["bytes after the extensions", hello({ trailing: extension(0, other) })],
  ["a second message in its record", records(Buffer.concat([message, message]))],
  [
    "bytes after the names",
    hello({ names: null, extensions: [[0, Buffer.concat([other, Buffer.of(0)])]] }),
  ],
  ["a hello that is too long", hello({ extensions: [padding(maxHelloBytes)] })],
  ["an announced length that is too long", Buffer.from([22, 3, 1, 0x40, 1, 1])],
])("readFirstBytes returns malformed for a TLS hello: %s", (_what, bytes) =>
  expect(readFirstBytes(bytes)).toMatchObject({ type: "malformed" }),
);
