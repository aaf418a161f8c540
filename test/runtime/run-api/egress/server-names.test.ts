import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { hello } from "./hellos.ts";
import { banner, publicAddress } from "./hosts.ts";
import { connectTo, egressSide, tlsOver } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(egressSide, (side) => side.close());
const run = perTest(() => side().open("dev-1"));

/** Sends these bytes first, and waits until the tunnel is cut. */
async function cut(address: string, bytes: Buffer) {
  const { socket, status } = await connectTo(run(), address);
  expect(status).toBe(200);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = once(socket, "close");
  socket.write(bytes);
  await closed;
  return { received: Buffer.concat(chunks), attempt: await side().reported(1) };
}

test("a tunnel whose TLS names another server is cut with the alert unrecognized_name", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  const tls = tlsOver(socket, "other.test", side().hosts.ca);
  const [error] = (await once(tls, "error")) as [Error];
  expect(error.message).toMatch(/unrecognized.name/i);
  const attempt = await side().reported(1);
  expect(attempt).toMatchObject({ host: "api.allowed.test", denied: "server_name", bytesOut: 0 });
  expect(attempt?.detail).toContain('"other.test"');
  expect(side().hosts.seen).toEqual([]);
});

test.each<[string, Buffer]>([
  ["without a name", hello({ names: null })],
  ["with several names", hello({ names: ["api.allowed.test", "other.test"] })],
  ["with an address for a name", hello({ names: [publicAddress] })],
  ["with a dot at the name's end", hello({ names: ["api.allowed.test."] })],
  [
    "with an outer name for an encrypted one",
    hello({ names: ["x.test"], extensions: [[0xfe0d, Buffer.alloc(99)]] }),
  ],
  ["of plain HTTP", Buffer.from("GET / HTTP/1.1\r\nhost: other.test\r\n\r\n")],
  ["of SSLv2", Buffer.from([0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10])],
  ["of 16 KiB without an end", hello({ extensions: [[21, Buffer.alloc(17_000)]] })],
])(
  "a tunnel whose start is not a connection to its host is cut: a hello %s",
  async (_what, bytes) => {
    const { attempt } = await cut("api.allowed.test:443", bytes);
    expect(attempt?.denied).toMatch(/^(server_name|no_tls)$/);
    expect(side().hosts.seen).toEqual([]);
  },
);

test("a tunnel whose start is not a connection to its host is cut on other ports, too, once it begins as TLS", async () => {
  const { attempt, received } = await cut("api.allowed.test:22", hello({ names: ["other.test"] }));
  expect(attempt).toMatchObject({ port: 22, denied: "server_name" });
  expect(received.toString("latin1")).toContain(banner);
  expect(await text(side().hosts.ssh[0] ?? Readable.from([]))).toBe("");
});

test("a tunnel whose start is not a connection to its host may lack a server name if the host is a listed address", async () => {
  side().allow([publicAddress]);
  side().hosts.names.set(publicAddress, [publicAddress]);
  const { socket } = await connectTo(run(), `${publicAddress}:443`);
  const tls = tlsOver(socket, "", side().hosts.ca);
  await once(tls, "secureConnect");
  tls.destroy();
  await side().reported(1);
  side().attempts.length = 0;
  const { attempt } = await cut(`${publicAddress}:443`, hello());
  expect(attempt).toMatchObject({ denied: "server_name" });
});

test("a tunnel whose start is not a connection to its host is not reported as denied if it ends early", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  socket.end(hello().subarray(0, 50));
  expect(await side().reported(1)).toMatchObject({ denied: null });
});
