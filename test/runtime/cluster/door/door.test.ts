import { once } from "node:events";
import { connect, createServer, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { fixedTokens } from "../../../../src/runtime/run-api/run-tokens.ts";
import { RunSocket } from "../../../../src/runtime/run-api/run-socket.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { resource } from "../../run-api/support.ts";
import { aDoor, claimA, connectToDoor } from "./support.ts";
import { listen } from "../../../helpers/listen.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { like } from "../../../helpers/like.ts";

const { side, run, unlock, ...asked } = aDoor({ handshakeMs: 300, maxUnauthenticated: 20 });
const token = perTest(() => asked.tokenOf());
const opened: Socket[] = [];
afterEach(() => {
  for (const connection of opened.splice(0)) connection.destroy();
});

function kept<T extends Socket>(connection: T): T {
  opened.push(connection);
  // Cut off is what the other side may do; its end is read.
  return connection.resume().on("error", () => undefined);
}

const isOpen = ({ readableEnded, destroyed }: Socket): boolean => !readableEnded && !destroyed;

/** Why the handshake failed. */
async function failure(options: Parameters<typeof connectToDoor>[2]): Promise<string> {
  const connection = connectToDoor(side(), "al-dev-1", options);
  const [error] = (await once(connection, "error")) as [NodeJS.ErrnoException];
  return error.code ?? error.message;
}

/** A connection without a token; on a busy machine it may be closed before its handshake has ended. */
const strangerAt = (name: string) =>
  once(kept(connectToDoor(side(), name)), "secureConnect").catch(() => undefined);

/** Asks for the inbox, which is not answered. */
const readInbox = async () => {
  const { remote } = side().now;
  const { promise, resolve } = Promise.withResolvers<{ stop: null }>();
  remote.onInbox = () => promise;
  const waiting = asked.ask("/remote/inbox", { token: token(), method: "GET" });
  await expect.poll(() => remote.signals).toHaveLength(1);
  return { waiting, answer: () => resolve({ stop: null }) };
};

describe("the door", () => {
  test("is identified by its certificate only, and speaks TLS 1.3 only", async () => {
    const connection = kept(connectToDoor(side(), "al-dev-1"));
    await once(connection, "secureConnect");
    expect(connection.getProtocol()).toBe("TLSv1.3");
    expect(await failure({ ca: testCertificate.cert })).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(await failure({ ca: undefined })).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(await failure({ minVersion: "TLSv1.2", maxVersion: "TLSv1.2" })).toMatch(/PROTOCOL/);
  });

  test("accepts a run's token only for that run's server name", async () => {
    const other = await asked.expectRun("dev-2");
    await asked.tokenOf(other);
    for (const name of [other.name, "al-nobody", "", "AL-DEV-1.example.test"]) {
      expect(await unlock(token(), name)).toBe(401);
    }
    expect(side().now.abilities.asked).toEqual([]);
    expect(await unlock(token())).toBe(200);
  });

  test("disconnects a peer that does not finish its handshake", async () => {
    const both = [1, 2].map(() => kept(connect(side().now.port, "127.0.0.1")));
    both[1]?.write(Buffer.from([22, 3, 1, 2, 0]));
    await expect.poll(() => both.filter(isOpen)).toEqual([]);
    expect(side().problems).toEqual([]);
  });

  test("stays reachable for runs while strangers hold connections open", async () => {
    const early = Array.from({ length: 60 }, () => kept(connect(side().now.port, "127.0.0.1")));
    for (let n = 0; n < 30; n += 1) {
      await strangerAt(n % 2 === 0 ? "al-x" : run().name);
      if (n % 10 === 0) expect(await unlock(token())).toBe(200);
    }
    await expect.poll(() => early.filter(isOpen)).toEqual([]);
    expect(await unlock(token())).toBe(200);
  });

  test("keeps connections with a token while strangers connect", async () => {
    const { waiting, answer } = await readInbox();
    for (let n = 0; n < 40; n += 1) await strangerAt("al-x");
    expect(side().now.remote.signals[0]?.aborted).toBe(false);
    answer();
    expect(await waiting).toMatchObject({ status: 200 });
  });

  test("lets one direction of a connection end before the other", async () => {
    const connection = kept(connectToDoor(side(), run().name));
    const body = JSON.stringify({ resource });
    const head = [
      "POST /run/unlock HTTP/1.1",
      "Host: x",
      "Connection: close",
      `Authorization: Bearer ${token()}`,
      `Idempotency-Key: ${claimA}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    connection.end(`${head.join("\r\n")}\r\n\r\n${body}`);
    expect(await text(connection)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test("the socket of a run on another machine limits its connections", async () => {
  const unused = (): void => undefined;
  const owner = { instanceId: "dev-1", dir: null, tokens: fixedTokens(null) };
  const run = new RunSocket(owner, unused, unused, unused);
  const connections = Array.from({ length: 330 }, () => {
    const connection = new Socket();
    run.accept(connection, unused);
    run.markAuthenticated(connection);
    return connection;
  });
  expect(connections.map(isOpen)).toEqual([...connections.keys()].map((n) => n < 320));
  for (const connection of connections) connection.destroy();
  await run.end("closing");
});

describe("the address where the door listens", () => {
  async function connectError(host: string): Promise<string> {
    const connection = kept(connect(side().now.port, host));
    const event = await Promise.race([once(connection, "error"), once(connection, "connect")]);
    return (event as [{ code: string }?])[0]?.code ?? "none";
  }

  test("can change, and open connections stay", async () => {
    const { waiting, answer } = await readInbox();
    const { port, door } = side().now;
    expect(await door.listen({ host: "127.0.0.2", port })).toBe(port);
    expect(await connectError("127.0.0.1")).toBe("ECONNREFUSED");
    answer();
    expect(await waiting).toEqual({ status: 200, body: { stop: null } });
    await door.listen({ host: "127.0.0.1", port });
    expect(await unlock(token())).toBe(200);
  });

  test("stays if a new one fails, with an error and a hint", async () => {
    const taken = createServer();
    const port = await listen(taken);
    await expect(side().now.door.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "door_address",
      message: `the door can't listen at 127.0.0.1:${port}: the port is in use`,
      hint: like("[cluster] listen"),
    });
    expect(await unlock(token())).toBe(200);
    taken.close();
  });

  test("is not opened if the door is closed first", async () => {
    const { door, port } = side().now;
    const moving = door.listen({ host: "127.0.0.2", port });
    door.close();
    expect(await moving).toBeNull();
    expect(await connectError("127.0.0.2")).toBe("ECONNREFUSED");
  });
});
