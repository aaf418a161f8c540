import { hostGateway } from "../harness/model-host.ts";
import { noEgress } from "./no-egress.ts";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, stat, symlink } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { socketSide, post, openSocket, waitingRun, waitOver } from "./support.ts";
import type { SocketOfRun, SocketSide } from "./support.ts";

let side: SocketSide;
beforeEach(async () => void (side = await socketSide()));
afterEach(() => side.remove());

test("a run's socket can be opened by every user, but its folder can't be listed", async () => {
  const { dir, socket, token } = await openSocket(side, "dev-1");
  expect((await stat(dir)).mode & 0o777).toBe(0o711);
  expect((await stat(socket)).mode & 0o777).toBe(0o666);
  expect(dir.slice(side.base.length + 1)).toMatch(/^[\w-]{22}$/);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
});

test("a run's socket reports a path that is too long", async () => {
  const deep = join(side.base, "d".repeat(70));
  await mkdir(deep);
  await expect(openSocket(side, "dev-1", deep)).rejects.toMatchObject({
    code: "socket_path_too_long",
    message: expect.stringContaining(deep) as string,
  });
});

test("a run's socket rejects a forged token, a missing one, and the token of another run", async () => {
  const [one, two] = [await openSocket(side, "dev-1"), await openSocket(side, "dev-2")];
  const forged = { socket: one.socket, token: "A".repeat(43) };
  const stolen = { socket: one.socket, token: two.token };
  for (const attempt of [
    post(forged, "lock"),
    post(stolen, "lock"),
    post(one, "lock", { headers: { authorization: "" } }),
    post(one, "lock", { headers: { authorization: `Basic ${one.token}` } }),
  ]) {
    expect(await attempt).toMatchObject({ status: 401, body: { error: "unauthorized" } });
  }
  expect(side.abilities.asked).toEqual([]);
});

test("a run's socket rejects the token when the run has ended, even on a connection that was open before", async () => {
  const one = await openSocket(side, "dev-1");
  const early = await halfSent(one);
  one.dispose();
  early.write("\r\n{}");
  expect(await answerOn(early)).toMatch(/^HTTP\/1\.1 401 /);
  await expect(post(one, "lock")).rejects.toMatchObject({ code: "ENOENT" });
  await expect.poll(() => existsSync(one.dir)).toBe(false);
  expect(side.abilities.asked).toEqual([]);
});

test("a run's socket answers waiting requests with 401 when the run ends, and aborts them", async () => {
  const one = await openSocket(side, "dev-1");
  const { waiting } = await waitingRun(side, one);
  one.dispose();
  await expect(waiting).rejects.toMatchObject({ code: "unauthorized" });
  expect(side.abilities.asked[0]?.signal.aborted).toBe(true);
});

test("a run's socket resumes requests after a restart, with the same token and idempotency key", async () => {
  const one = await openSocket(side, "dev-1");
  const { waiting } = await waitingRun(side, one);
  await side.sockets.close();
  side.abilities.answers.wait = () => waitOver;
  side.sockets = side.successor();
  await side.sockets.restore(new Set(["dev-1"]));
  expect(await post(one, "lock")).toMatchObject({ status: 503, body: { error: "unavailable" } });
  side.sockets.serve({ runApi: side.abilities, models: hostGateway, egress: noEgress });
  await expect.poll(() => side.abilities.asked.length).toBe(2);
  expect(await waiting).toMatchObject({ timedOut: true });
  expect(side.abilities.asked[1]?.key).toBe(side.abilities.asked[0]?.key);
  expect(await post({ ...one, token: "forged" }, "lock")).toMatchObject({ status: 401 });
});

test("a run's socket is not opened in a folder that is a symbolic link", async () => {
  const one = await openSocket(side, "dev-1");
  await side.sockets.close();
  await rm(one.dir, { recursive: true });
  const other = join(side.base, "other");
  await mkdir(other);
  await symlink(other, one.dir);
  expect((await side.successor().restore(new Set(["dev-1"]))).size).toBe(0);
  expect(side.problems).toEqual([expect.stringContaining("is not the scheduler's own folder")]);
});

/** A request whose headers are not yet all there. */
async function halfSent({ socket, token }: SocketOfRun): Promise<Socket> {
  const connection = connect(socket);
  await once(connection, "connect");
  connection.write(
    `POST /run/lock HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n`,
  );
  // Until it is at the server, it has no connection to end; another that came later is answered after it came.
  expect((await post({ socket, token: "none" }, "lock")).status).toBe(401);
  return connection;
}

async function answerOn(connection: Socket): Promise<string> {
  const [chunk] = (await once(connection, "data")) as [Buffer];
  connection.destroy();
  return chunk.toString("utf8");
}
