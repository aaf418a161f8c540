import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { hello } from "./hellos.ts";
import { banner, publicAddress } from "./hosts.ts";
import { connectTo, egressPerTest, tlsOver } from "./support.ts";

const { side, run } = egressPerTest();

/** Sends these bytes first, and waits until the tunnel is cut. */
async function cut(address: string, bytes: Buffer | string) {
  const { socket } = await connectTo(run(), address);
  const received = text(socket);
  socket.write(bytes);
  return { received: await received, attempt: await side().reported(1) };
}

test("a tunnel whose TLS hello names another server is closed with the alert unrecognized_name", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  const [error] = (await once(tlsOver(socket, "other.test", side().hosts.ca), "error")) as [Error];
  expect(error.message).toMatch(/unrecognized.name/i);
  const attempt = await side().reported(1);
  expect(attempt).toMatchObject({ host: "api.allowed.test", denied: "server_name", bytesOut: 0 });
  expect(attempt?.detail).toContain('"other.test"');
  expect(side().hosts.seen).toEqual([]);
});

test.each<[string, Buffer | string, string]>([
  ["a TLS hello without a name", hello({ names: null }), "server_name"],
  [
    "a TLS hello whose server name is an IP address",
    hello({ names: [publicAddress] }),
    "server_name",
  ],
  [
    "a TLS hello with a dot at the name's end",
    hello({ names: ["api.allowed.test."] }),
    "server_name",
  ],
  ["plain HTTP", "GET / HTTP/1.1\r\nhost: other.test\r\n\r\n", "no_tls"],
])("a tunnel whose first bytes are %s is closed", async (_what, bytes, denied) => {
  const { attempt } = await cut("api.allowed.test:443", bytes);
  expect(attempt).toMatchObject({ denied });
  expect(side().hosts.seen).toEqual([]);
});

test("a tunnel to port 22 is closed if it begins with a TLS hello to another server", async () => {
  const { attempt, received } = await cut("api.allowed.test:22", hello({ names: ["other.test"] }));
  expect(attempt).toMatchObject({ port: 22, denied: "server_name" });
  expect(received).toContain(banner);
  expect(await text(side().hosts.ssh[0] ?? Readable.from([]))).toBe("");
});

test("a tunnel to an allowed IP address is closed if its TLS hello names a server", async () => {
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

test("a tunnel that ends during its TLS hello is not reported as denied", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  socket.end(hello().subarray(0, 50));
  expect(await side().reported(1)).toMatchObject({ denied: null });
});
