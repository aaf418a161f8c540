import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import type { Interception } from "../../../../src/runtime/run-api/egress/broker/exchange.ts";
import { hello } from "./hellos.ts";
import { connectTo, egressSide, tlsOver, type EgressSide } from "./support.ts";

const bindings = [{ sentinel: "al-sentinel", secret: "s3cret", hosts: ["api.allowed.test"] }];
let side: EgressSide;
afterEach(() => side.close());

/** Tunnels to hosts that a secret is bound to are taken by this. */
async function intercepted(intercept: (interception: Interception) => Promise<void>) {
  side = await egressSide({ intercept });
  side.allow(["api.allowed.test", "api.allowed.test:22", "files.allowed.test"], { bindings });
  return side.open("dev-1");
}

test("an interceptor gets the tunnels to bound hosts, with the checked address and a callback for reports", async () => {
  const taken: Interception[] = [];
  const run = await intercepted(async (interception) => {
    taken.push(interception);
    const { client, dial, onDenied } = interception;
    // The name has another address by now; the way is the one that was checked.
    side.hosts.names.set("api.allowed.test", ["127.0.0.1"]);
    (await dial()).destroy();
    onDenied("sentinel", "a sentinel in the path");
    const [bytes] = (await once(client.resume(), "data")) as [Buffer];
    client.end(bytes);
    await once(client, "close");
  });
  const { socket } = await connectTo(run, "api.allowed.test:443");
  expect(side.hosts.dialled).toEqual([]);
  const sent = hello();
  socket.write(sent);
  expect(await buffer(socket)).toEqual(sent);
  await side.reported(2);
  const tunnel = { instanceId: "dev-1", host: "api.allowed.test", port: 443, bindings };
  expect(taken).toMatchObject([tunnel]);
  expect(side.hosts.dialled).toEqual(["203.0.113.10:443"]);
  expect(side.attempts).toMatchObject([
    { denied: "sentinel", detail: "a sentinel in the path", bytesOut: 0 },
    { denied: null, bytesOut: sent.length, bytesIn: sent.length },
  ]);
});

test("an interceptor gets no tunnel with another server name, and none to other hosts or ports", async () => {
  let count = 0;
  const run = await intercepted(({ client }) => {
    count += 1;
    client.destroy();
    return Promise.resolve();
  });
  const named = await connectTo(run, "api.allowed.test:443");
  await once(tlsOver(named.socket, "other.test", side.hosts.ca), "error");
  const files = await connectTo(run, "files.allowed.test:443");
  await once(tlsOver(files.socket, "files.allowed.test", side.hosts.ca), "secureConnect");
  files.socket.destroy();
  const ssh = await connectTo(run, "api.allowed.test:22");
  await once(ssh.socket, "data");
  ssh.socket.destroy();
  expect(count).toBe(0);
});

test("an interceptor that fails gets its tunnel cut, and the scheduler's log names the reason", async () => {
  const run = await intercepted(() => Promise.reject(new Error("no certificate")));
  const { socket } = await connectTo(run, "api.allowed.test:443");
  socket.write(hello());
  await once(socket.resume(), "close");
  await expect.poll(() => side.problems).toEqual(["dev-1: api.allowed.test: no certificate"]);
});
