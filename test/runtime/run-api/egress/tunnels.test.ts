import { once } from "node:events";
import { text } from "node:stream/consumers";
import { banner, publicAddress } from "./hosts.ts";
import { connectTo, egressPerTest, getThrough } from "./support.ts";

const { side, run } = egressPerTest();
const host = "api.allowed.test";

/** Asks for a host, and expects to be refused before anything is dialled. */
async function refused(address: string) {
  const answer = await connectTo(run(), address);
  expect(side().hosts.dialled).toEqual([]);
  return { ...answer, attempt: side().attempts.at(-1) };
}

/** A tunnel to a server that speaks first, with the server's end. */
async function toSsh() {
  const { socket } = await connectTo(run(), `${host}:22`);
  await expect.poll(() => side().hosts.ssh.length).toBe(1);
  const [ssh] = side().hosts.ssh;
  if (ssh === undefined) throw new Error("no connection");
  return { socket, ssh };
}

describe("a tunnel to an allowed host", () => {
  test("carries TLS end to end, and counts bytes", async () => {
    const { status, socket } = await connectTo(run(), `${host}:443`);
    expect(status).toBe(200);
    const answer = await getThrough(socket, `https://${host}/`, side().hosts);
    expect(answer).toMatchObject({ status: 200, body: `hello from ${host}` });
    const attempt = await side().reported(1);
    const about = { instanceId: "dev-1", agent: "dev", host, port: 443 };
    expect(attempt).toMatchObject({ ...about, denied: null, detail: "" });
    expect(attempt?.bytesOut).toBeGreaterThan(300);
    expect(attempt?.bytesIn).toBeGreaterThan(700);
    expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
  });

  test("lets the server send first, and forwards the end of either direction", async () => {
    const { socket, ssh } = await toSsh();
    const [received, sent] = [text(socket), text(ssh)];
    socket.end("SSH-2.0-run\r\n");
    expect(await sent).toBe("SSH-2.0-run\r\n");
    ssh.end("later");
    expect(await received).toBe(`${banner}later`);
    expect(await side().reported(1)).toMatchObject({ port: 22, bytesOut: 13, bytesIn: 19 });
  });

  test("ends when the host closes the connection", async () => {
    const { socket, ssh } = await toSsh();
    ssh.resetAndDestroy();
    await once(socket.resume(), "close");
    await side().reported(1);
  });

  test("ends when the run closes the connection", async () => {
    const { socket, ssh } = await toSsh();
    socket.destroy();
    await once(ssh.resume(), "end");
    ssh.end();
    await side().reported(1);
  });

  test("tries the host's addresses in turn", async () => {
    side().hosts.names.set(host, ["203.0.113.99", publicAddress]);
    expect(await connectTo(run(), `${host}:443`)).toMatchObject({ status: 200 });
    expect(side().hosts.dialled).toEqual(["203.0.113.99:443", `${publicAddress}:443`]);
  });

  test("skips forbidden addresses of the host", async () => {
    side().hosts.names.set(host, ["127.0.0.1", "10.0.0.7", publicAddress]);
    await connectTo(run(), `${host}:443`);
    expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
  });

  test("looks the host up once and connects to the checked address", async () => {
    await connectTo(run(), `${host}:443`);
    expect(side().hosts.lookups).toHaveLength(1);
    side().hosts.names.set(host, ["127.0.0.1"]);
    expect(await connectTo(run(), `${host}:443`)).toMatchObject({ status: 403 });
    expect(side().hosts.dialled).toEqual([`${publicAddress}:443`]);
  });
});

describe("a tunnel is rejected to", () => {
  test("another host, which the response names with a hint", async () => {
    const { status, phrase, detail, headers, attempt } = await refused("other.test:443");
    expect([status, phrase]).toEqual([403, "other.test is not in [network].allow"]);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(detail).toContain('add "other.test" to allow in [network]');
    const told = { host: "other.test", port: 443, denied: "not_allowed", detail: detail.trim() };
    expect(attempt).toMatchObject(told);
    expect(side().hosts.lookups).toEqual([]);
  });

  test.each([
    [host, "malformed", 400],
    [`${host}:8443`, "not_allowed", 403],
    ["allowed.test:443", "not_allowed", 403],
    [`${publicAddress}:443`, "not_allowed", 403],
    ["10.0.0.7:443", "private_address", 403],
  ])("%s", async (address, denied, status) =>
    expect(await refused(address)).toMatchObject({ status, attempt: { denied } }),
  );

  test.each([
    ["127.0.0.1", "refused_address"],
    ["64:ff9b::a9fe:a9fe", "refused_address"],
    ["10.0.0.7", "private_address"],
    ["192.168.7.7", "private_address"],
  ])("a name whose address is %s", async (address, denied) => {
    side().hosts.names.set(host, [address]);
    expect(await refused(`${host}:443`)).toMatchObject({ status: 403, attempt: { denied } });
  });

  test("the gateway's own port of this machine, even if an entry opens the machine", async () => {
    side().allow(["gw.test:8080 private", "gw.test:8081 private"]);
    side().hosts.names.set("gw.test", ["192.168.7.7"]);
    expect(await refused("gw.test:8080")).toMatchObject({ attempt: { denied: "refused_address" } });
    // Nothing listens there, but it was tried.
    expect(await connectTo(run(), "gw.test:8081")).toMatchObject({ status: 502 });
    expect(side().hosts.dialled).toEqual(["192.168.7.7:8081"]);
  });

  test("a name without an address, or a host that does not respond", async () => {
    side().hosts.names.delete(host);
    const phrase = `${host} has no address`;
    const attempt = { denied: "unresolved" };
    expect(await refused(`${host}:443`)).toMatchObject({ status: 502, phrase, attempt });
    side().hosts.names.set(host, ["203.0.113.99"]);
    const { status, detail, phrase: found } = await connectTo(run(), `${host}:443`);
    expect([status, found]).toEqual([502, `${host} can't be reached`]);
    expect(detail).toContain("ECONNREFUSED");
    expect(await side().reported(2)).toMatchObject({ denied: "unreachable" });
  });

  test("any host if the run has 128 connections; other runs are not limited by those", async () => {
    const ask = async (by = run()) => {
      const { socket, status } = await connectTo(by, `${host}:22`);
      socket.resume();
      return status;
    };
    const open = await Promise.all(Array.from({ length: 128 }, () => ask()));
    expect(open.every((status) => status === 200)).toBe(true);
    expect(await ask()).toBe(429);
    expect(await side().reported(1)).toMatchObject({ denied: "too_many_tunnels", agent: "dev" });
    expect(await ask(await side().open("dev-2"))).toBe(200);
    side().hosts.ssh[0]?.destroy();
    await side().reported(2);
    expect(await ask()).toBe(200);
  });
});
