import { once } from "node:events";
import { connect, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { fixedTokens } from "../../../../src/runtime/cluster/door/run-tokens.ts";
import { RunSocket } from "../../../../src/runtime/run-api/run-socket.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { resource } from "../../run-api/support.ts";
import { ask, claimA, connectToDoor, doorSide, expectRun, tokenOf } from "./support.ts";
import type { DoorSide, TicketHolder } from "./support.ts";

let side: DoorSide;
const opened: Socket[] = [];
beforeEach(async () => void (side = await doorSide({ handshakeMs: 300, maxUnauthenticated: 20 })));
afterEach(async () => {
  for (const connection of opened.splice(0)) connection.destroy();
  await side.remove();
});

function kept<T extends Socket>(connection: T): T {
  opened.push(connection);
  // Cut off is what the other side may do; its end is read.
  return connection.resume().on("error", () => undefined);
}

function isOpen({ readableEnded, destroyed }: Socket): boolean {
  return !readableEnded && !destroyed;
}

async function unlock(run: TicketHolder, token: string): Promise<number> {
  const headers = { "idempotency-key": claimA };
  const asked = { name: run.name, token, body: { resource }, headers };
  return (await ask(side, "/run/unlock", asked)).status;
}

/** Why the handshake failed. */
async function failure(options: Parameters<typeof connectToDoor>[2]): Promise<string> {
  const connection = connectToDoor(side, "al-dev-1", options);
  const [error] = (await once(connection, "error")) as [NodeJS.ErrnoException];
  return error.code ?? error.message;
}

test("the door is identified by its certificate only, and speaks TLS 1.3 only", async () => {
  await expectRun(side, "dev-1");
  const connection = kept(connectToDoor(side, "al-dev-1"));
  await once(connection, "secureConnect");
  expect(connection.getProtocol()).toBe("TLSv1.3");
  expect(await failure({ ca: testCertificate.cert })).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(await failure({ ca: undefined })).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(await failure({ minVersion: "TLSv1.2", maxVersion: "TLSv1.2" })).toMatch(/PROTOCOL/);
});

test.each(["al-nobody", "", "AL-DEV-1.example.test"])(
  "the door rejects each request by a name that no run has: %j",
  async (name) => {
    const run = await expectRun(side, "dev-1");
    const token = await tokenOf(side, run);
    expect(await unlock({ ...run, name }, token)).toBe(401);
    expect(side.now.abilities.asked).toEqual([]);
    expect(await unlock(run, token)).toBe(200);
  },
);

test("the door accepts a run's token only in that run's name", async () => {
  const [one, two] = [await expectRun(side, "dev-1"), await expectRun(side, "dev-2")];
  const token = await tokenOf(side, one);
  await tokenOf(side, two);
  expect(await unlock({ ...two, name: two.name }, token)).toBe(401);
});

test("the door disconnects a peer that does not finish its handshake", async () => {
  const silent = kept(connect(side.now.port, "127.0.0.1"));
  const slow = kept(connect(side.now.port, "127.0.0.1"));
  slow.write(Buffer.from([22, 3, 1, 2, 0]));
  await expect.poll(() => [isOpen(silent), isOpen(slow)]).toEqual([false, false]);
  expect(side.problems).toEqual([]);
});

/** A connection without a token; on a busy machine it may be closed before its handshake has ended. */
const strangerAt = (name: string) =>
  once(kept(connectToDoor(side, name)), "secureConnect").catch(() => undefined);

test("the door stays reachable for runs while strangers hold connections open, before TLS or after it", async () => {
  const run = await expectRun(side, "dev-1");
  const token = await tokenOf(side, run);
  const early = Array.from({ length: 60 }, () => kept(connect(side.now.port, "127.0.0.1")));
  for (let n = 0; n < 30; n += 1) {
    await strangerAt(n % 2 === 0 ? "al-x" : run.name);
    if (n % 10 === 0) expect(await unlock(run, token)).toBe(200);
  }
  await expect.poll(() => early.filter(isOpen).length).toBe(0);
  expect(await unlock(run, token)).toBe(200);
});

test("the door keeps connections that showed their token", async () => {
  const run = await expectRun(side, "dev-1");
  const token = await tokenOf(side, run);
  side.now.remote.onInbox = () => new Promise(() => undefined);
  const connection = kept(connectToDoor(side, run.name));
  connection.write(
    `GET /remote/inbox HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await expect.poll(() => side.now.remote.signals.length).toBe(1);
  for (let n = 0; n < 40; n += 1) {
    await strangerAt("al-x");
  }
  expect(side.now.remote.signals[0]?.aborted).toBe(false);
  expect(connection.destroyed).toBe(false);
});

test("the socket of a run on another machine accepts as many connections as it may have, and closes the others", async () => {
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

test("the door lets one direction of a connection end before the other", async () => {
  const run = await expectRun(side, "dev-1");
  const token = await tokenOf(side, run);
  const connection = kept(connectToDoor(side, run.name));
  const body = JSON.stringify({ resource });
  const head = [
    "POST /run/unlock HTTP/1.1",
    "Host: x",
    "Connection: close",
    `Authorization: Bearer ${token}`,
    `Idempotency-Key: ${claimA}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  connection.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  expect(await text(connection)).toMatch(/^HTTP\/1\.1 200 /);
});

async function connectError(host: string): Promise<string> {
  const connection = kept(connect(side.now.port, host));
  const event = await Promise.race([once(connection, "error"), once(connection, "connect")]);
  return (event as [{ code: string }?])[0]?.code ?? "none";
}

test("the address where the door listens can change, and open connections stay", async () => {
  const run = await expectRun(side, "dev-1");
  const token = await tokenOf(side, run);
  const { remote, door } = side.now;
  const { promise, resolve } = Promise.withResolvers<{ stop: null }>();
  remote.onInbox = () => promise;
  const asked = { name: run.name, token, method: "GET" };
  const waiting = ask(side, "/remote/inbox", asked);
  await expect.poll(() => remote.signals.length).toBe(1);
  const before = side.now.port;
  side.now.port = (await door.listen({ host: "127.0.0.2", port: before })) ?? 0;
  expect(side.now.port).toBe(before);
  expect(await connectError("127.0.0.1")).toBe("ECONNREFUSED");
  resolve({ stop: null });
  expect(await waiting).toEqual({ status: 200, body: { stop: null } });
  await door.listen({ host: "127.0.0.1", port: before });
  expect(await unlock(run, token)).toBe(200);
});

test("the address where the door listens stays if a new one fails, with an error and a hint", async () => {
  const run = await expectRun(side, "dev-1");
  const token = await tokenOf(side, run);
  const other = await doorSide();
  await expect(
    side.now.door.listen({ host: "127.0.0.1", port: other.now.port }),
  ).rejects.toMatchObject({
    code: "door_address",
    message: `the door can't listen at 127.0.0.1:${other.now.port}: the port is in use`,
    hint: expect.stringContaining("[cluster] listen") as string,
  });
  expect(await unlock(run, token)).toBe(200);
  await other.remove();
});

test("the address where the door listens is not opened if the door is closed first", async () => {
  const { door, port } = side.now;
  const moving = door.listen({ host: "127.0.0.2", port });
  door.close();
  expect(await moving).toBeNull();
  expect(await connectError("127.0.0.2")).toBe("ECONNREFUSED");
});
