import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { listen } from "../../helpers/listen.ts";
import { pause } from "../../helpers/pause.ts";
import { relayServer } from "../../../src/runtime/cluster/door-relay.ts";

const limits = { maxConnections: 100, maxPerAddress: 50 };

function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  return listen(server);
}

/** A relay before a door that does this with each connection. */
async function relayTo(onConnection: (connection: Socket) => void, given = limits) {
  const door = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => undefined);
    onConnection(connection);
  });
  const relay = relayServer(`127.0.0.1:${await listening(door)}`, given);
  return { relay, port: await listening(relay) };
}

function client(port: number, allowHalfOpen = false): Socket {
  return connect({ port, host: "127.0.0.1", allowHalfOpen }).on("error", () => undefined);
}

describe("the relay to the door", () => {
  test("passes bytes both ways, and a side that ended may still read", async () => {
    const { port } = await relayTo((connection) => {
      void buffer(connection).then((all) => connection.end(`${all.length} bytes`));
    });
    const sent = client(port, true);
    sent.end(Buffer.alloc(3_000_000, 1));
    expect(await text(sent)).toBe("3000000 bytes");
  });

  test("slows a side that is faster than the reader of the other", async () => {
    const { port } = await relayTo((connection) => connection.pause());
    const sent = client(port);
    await once(sent, "connect");
    let written = 0;
    const more = () => {
      do written += 1;
      while (written < 200 && sent.write(Buffer.alloc(1024 * 1024)));
    };
    sent.on("drain", more);
    more();
    await pause(1_000, "no more must be sent than fits into the buffers");
    expect(written).toBeLessThan(100);
    sent.destroy();
  });

  test("closes the connection when the door does, and when the door is away", async () => {
    const { relay, port } = await relayTo((connection) => connection.resetAndDestroy());
    await once(client(port).resume(), "close");
    const away = await listening(relayServer("127.0.0.1:1", limits));
    await once(client(away).resume(), "close");
    const open = () => new Promise((resolve) => relay.getConnections((_e, n) => resolve(n)));
    await expect.poll(open).toBe(0);
  });

  test("accepts a limited number of connections of one address until one of them ends", async () => {
    const { port } = await relayTo(
      (connection) => {
        connection.write("hello");
        connection.resume().once("end", () => connection.end());
      },
      { ...limits, maxPerAddress: 2 },
    );
    const accepted = [client(port), client(port)] as const;
    await Promise.all(accepted.map((one) => once(one, "data")));
    const isAccepted = async () => {
      const another = client(port).resume();
      const events = ["data", "close"].map((event) => once(another, event).then(() => event));
      const event = await Promise.race(events);
      another.destroy();
      return event === "data";
    };
    expect(await isAccepted()).toBe(false);
    accepted[0].destroy();
    await expect.poll(isAccepted).toBe(true);
    accepted[1].destroy();
  });
});
