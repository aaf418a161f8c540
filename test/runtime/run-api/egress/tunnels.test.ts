import { once } from "node:events";
import { text } from "node:stream/consumers";
import { hello } from "./hellos.ts";
import { banner, publicAddress } from "./hosts.ts";
import { connectTo, egressSide, getThrough } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(egressSide, (side) => side.close());
const run = perTest(() => side().open("dev-1"));

/** Asks for a host, and expects to be refused before anything is dialled. */
async function refused(address: string) {
  const answer = await connectTo(run(), address);
  expect(side().hosts.dialled).toEqual([]);
  return { ...answer, attempt: side().attempts.at(-1) };
}

test("a tunnel to an allowed host carries TLS from end to end, and its bytes are counted", async () => {
  const { status, socket } = await connectTo(run(), "api.allowed.test:443");
  expect(status).toBe(200);
  const answer = await getThrough(socket, "https://api.allowed.test/", side().hosts);
  expect(answer).toMatchObject({ status: 200, body: "hello from api.allowed.test" });
  const attempt = await side().reported(1);
  expect(attempt).toMatchObject({
    instanceId: "dev-1",
    agent: "dev",
    host: "api.allowed.test",
    port: 443,
    denied: null,
    detail: "",
  });
  expect(attempt?.bytesOut).toBeGreaterThan(300);
  expect(attempt?.bytesIn).toBeGreaterThan(700);
  expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
});

test("a tunnel to an allowed host is opened for a name below a wildcard, in any case, and with a dot at its end", async () => {
  const { socket } = await connectTo(run(), "FILES.Allowed.Test.:443");
  const { body } = await getThrough(socket, "https://files.allowed.test/", side().hosts);
  expect(body).toBe("hello from files.allowed.test");
});

test("a tunnel to an allowed host accepts a hello that came with its request", async () => {
  const bytes = hello();
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  socket.write(bytes.subarray(0, 10));
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.write(bytes.subarray(10));
  const [answer] = (await once(socket, "data")) as [Buffer];
  // A record of TLS: the server's hello, or that it did not like this one.
  expect([21, 22]).toContain(answer[0]);
  socket.destroy();
});

test("a tunnel to an allowed host lets servers of other protocols speak first, and forwards the end of either direction", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:22");
  const received = text(socket);
  await expect.poll(() => side().hosts.ssh.length).toBe(1);
  const [ssh] = side().hosts.ssh;
  if (ssh === undefined) throw new Error("no connection");
  const sent = text(ssh);
  socket.end("SSH-2.0-run\r\n");
  expect(await sent).toBe("SSH-2.0-run\r\n");
  ssh.end("later");
  expect(await received).toBe(`${banner}later`);
  expect(await side().reported(1)).toMatchObject({ port: 22, bytesOut: 13, bytesIn: 19 });
});

test("a tunnel to an allowed host ends when its host breaks off", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:22");
  await once(socket, "data");
  side().hosts.ssh[0]?.resetAndDestroy();
  await once(socket.resume(), "close");
  await side().reported(1);
});

test("a tunnel to an allowed host ends when its run breaks off", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:22");
  await once(socket, "data");
  const [ssh] = side().hosts.ssh;
  if (ssh === undefined) throw new Error("no connection");
  socket.destroy();
  await once(ssh.resume(), "end");
  ssh.end();
  await side().reported(1);
});

test("a tunnel to an allowed host tries the addresses of its host in turn", async () => {
  side().hosts.names.set("api.allowed.test", ["203.0.113.99", publicAddress]);
  const { socket, status } = await connectTo(run(), "api.allowed.test:443");
  expect(status).toBe(200);
  expect(side().hosts.dialled).toEqual(["203.0.113.99:443", `${publicAddress}:443`]);
  socket.destroy();
});

test("a denied target is another host, which the response names with a hint", async () => {
  const { status, phrase, detail, headers, attempt } = await refused("other.test:443");
  expect([status, phrase]).toEqual([403, "other.test is not in [network].allow"]);
  expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(detail).toContain('add "other.test" to allow in [network]');
  expect(attempt).toMatchObject({ host: "other.test", port: 443, denied: "not_allowed" });
  expect(attempt?.detail).toBe(detail.trim());
  expect(side().hosts.lookups).toEqual([]);
});

test.each([
  ["api.allowed.test:80443", "malformed", 400],
  ["api.allowed.test", "malformed", 400],
  ["2001:db8::1:443", "malformed", 400],
  ["api.allowed.test:8443", "not_allowed", 403],
  ["allowed.test:443", "not_allowed", 403],
  [`${publicAddress}:443`, "not_allowed", 403],
  ["127.0.0.1:443", "refused_address", 403],
  ["0x7f.1:443", "refused_address", 403],
  ["169.254.169.254:80", "refused_address", 403],
  ["[::1]:443", "refused_address", 403],
  ["[::ffff:203.0.113.10]:443", "refused_address", 403],
  ["[2001:db8::1]:443", "not_allowed", 403],
  ["10.0.0.7:443", "private_address", 403],
  ["localhost:443", "not_allowed", 403],
])("a denied target is %s", async (address, denied, status) => {
  expect(await refused(address)).toMatchObject({ status, attempt: { denied } });
});

test.each([
  ["127.0.0.1", "refused_address"],
  ["169.254.169.254", "refused_address"],
  ["::1", "refused_address"],
  ["::ffff:127.0.0.1", "refused_address"],
  ["64:ff9b::a9fe:a9fe", "refused_address"],
  ["fd00:ec2::254", "refused_address"],
  ["0.0.0.0", "refused_address"],
  ["10.0.0.7", "private_address"],
  ["192.168.7.7", "private_address"],
])("a denied target is a name whose address is %s", async (address, denied) => {
  side().hosts.names.set("api.allowed.test", [address]);
  expect(await refused("api.allowed.test:443")).toMatchObject({ status: 403, attempt: { denied } });
});

test("a denied target is one forbidden address among others", async () => {
  side().hosts.names.set("api.allowed.test", ["127.0.0.1", "10.0.0.7", publicAddress]);
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
  socket.destroy();
});

test("a denied target is a name whose second lookup gives another address: each connection looks up once, and dials the result", async () => {
  const { socket } = await connectTo(run(), "api.allowed.test:443");
  socket.destroy();
  expect(side().hosts.lookups).toHaveLength(1);
  side().hosts.names.set("api.allowed.test", ["127.0.0.1"]);
  expect(await connectTo(run(), "api.allowed.test:443")).toMatchObject({ status: 403 });
  expect(side().hosts.lookups).toHaveLength(2);
  expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
});

test("a denied target is a listed address that is closed to all", async () => {
  side().allow(["127.0.0.1 private", "169.254.169.254:80 private", "[::1] private"]);
  for (const address of ["127.0.0.1:443", "169.254.169.254:80", "[::1]:443"]) {
    side().hosts.names.set(address.replace(/:\d+$/, "").replace(/[[\]]/g, ""), [
      address.replace(/:\d+$/, "").replace(/[[\]]/g, ""),
    ]);
    expect(await refused(address)).toMatchObject({ attempt: { denied: "refused_address" } });
  }
});

test("a denied target is the gateway's own port of this machine, even if an entry opens the machine", async () => {
  side().allow(["gw.test:8080 private", "gw.test:8081 private"]);
  side().hosts.names.set("gw.test", ["192.168.7.7"]);
  expect(await refused("gw.test:8080")).toMatchObject({ attempt: { denied: "refused_address" } });
  // Nothing listens there, but it was tried.
  expect(await connectTo(run(), "gw.test:8081")).toMatchObject({ status: 502 });
  expect(side().hosts.dialled).toEqual(["192.168.7.7:8081"]);
});

test("a denied target is a name without an address, or one that does not answer", async () => {
  side().hosts.names.delete("api.allowed.test");
  expect(await refused("api.allowed.test:443")).toMatchObject({
    status: 502,
    phrase: "api.allowed.test has no address",
    attempt: { denied: "unresolved" },
  });
  side().hosts.names.set("api.allowed.test", ["203.0.113.99"]);
  const { status, phrase, detail } = await connectTo(run(), "api.allowed.test:443");
  expect([status, phrase]).toEqual([502, "api.allowed.test can't be reached"]);
  expect(detail).toContain("ECONNREFUSED");
  expect(await side().reported(2)).toMatchObject({ denied: "unreachable" });
});

test("a denied target is beyond 128 connections of a run; another run has its own", async () => {
  const open = await Promise.all(
    Array.from({ length: 128 }, () => connectTo(run(), "api.allowed.test:22")),
  );
  expect(open.every(({ status }) => status === 200)).toBe(true);
  expect(await connectTo(run(), "api.allowed.test:22")).toMatchObject({ status: 429 });
  expect(await side().reported(1)).toMatchObject({ denied: "too_many_tunnels", agent: "dev" });
  const other = await side().open("dev-2");
  const { socket, status } = await connectTo(other, "api.allowed.test:22");
  expect(status).toBe(200);
  for (const { socket: one } of open) one.resume();
  side().hosts.ssh[0]?.destroy();
  await side().reported(2);
  const { socket: next, status: again } = await connectTo(run(), "api.allowed.test:22");
  expect(again).toBe(200);
  for (const { socket: one } of [...open, { socket }, { socket: next }]) one.destroy();
});
