import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { relayServer } from "../../../src/runtime/cluster/door-relay.ts";

const limits = { maxConnections: 100, maxPerAddress: 50 };
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A relay before a door that does this with each connection. */
async function relayTo(onConnection: (connection: Socket) => void, given = limits) {
  const door = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => undefined);
    onConnection(connection);
  });
  const port = await listening(door);
  const relay = relayServer(`127.0.0.1:${port}`, given);
  return { relay, port: await listening(relay) };
}

function client(port: number, allowHalfOpen = false): Socket {
  return connect({ port, host: "127.0.0.1", allowHalfOpen }).on("error", () => undefined);
}

test("the relay to the door passes bytes both ways, and a side that ended may still read", async () => {
  const { port } = await relayTo((connection) => {
    void buffer(connection).then((all) => connection.end(`${all.length} bytes`));
  });
  const sent = client(port, true);
  sent.end(Buffer.alloc(3_000_000, 1));
  expect(await text(sent)).toBe("3000000 bytes");
});

test("the relay to the door slows a side that is faster than the reader of the other", async () => {
  const { port } = await relayTo((connection) => connection.pause());
  const sent = client(port);
  await once(sent, "connect");
  let written = 0;
  const chunk = Buffer.alloc(1024 * 1024);
  while (sent.write(chunk) && written < 200) written += 1;
  for (; written < 200; written += 1) {
    const drained = await Promise.race([once(sent, "drain").then(() => true), wait(500, false)]);
    if (!drained) break;
    sent.write(chunk);
  }
  expect(written).toBeLessThan(100);
  sent.destroy();
});

test("the relay to the door breaks the connection when the door breaks it, and when the door is away", async () => {
  const { relay, port } = await relayTo((connection) => connection.resetAndDestroy());
  const broken = client(port).resume();
  await once(broken, "close");
  const away = relayServer("127.0.0.1:1", limits);
  const refused = client(await listening(away)).resume();
  await once(refused, "close");
  await vi.waitFor(
    async () => {
      expect(await new Promise((resolve) => relay.getConnections((_e, n) => resolve(n)))).toBe(0);
    },
    { timeout: 10_000 },
  );
});

test("the relay to the door accepts a limited number of connections of one address until one of them ends", async () => {
  const { port } = await relayTo(
    (connection) => {
      connection.write("hello");
      connection.resume().once("end", () => connection.end());
    },
    { ...limits, maxPerAddress: 2 },
  );
  const first = client(port);
  const second = client(port);
  await Promise.all([once(first, "data"), once(second, "data")]);
  const third = client(port).resume();
  await once(third, "close");
  first.destroy();
  await vi.waitFor(
    async () => {
      const again = client(port);
      const answered = await Promise.race([
        once(again, "data").then(() => true),
        once(again, "close").then(() => false),
      ]);
      again.destroy();
      expect(answered).toBe(true);
    },
    { timeout: 10_000 },
  );
  second.destroy();
});
