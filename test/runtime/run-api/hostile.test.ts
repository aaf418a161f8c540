import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { RequestAnswer } from "../../../src/runtime/wire/protocol.ts";
import { withStrangers } from "../../faults/doors/http/with-strangers.ts";
import { held } from "../../helpers/fake-abilities.ts";
import { socketSide, clientOf, post, openSocket, waitingRun, waitOver } from "./support.ts";
import type { SocketOfRun } from "./support.ts";
import { perTest } from "../../helpers/per-test.ts";

const opened: Socket[] = [];
const side = perTest(socketSide);
const one = perTest(() => openSocket(side(), "dev-1"));
afterEach(async () => {
  for (const connection of opened.splice(0)) connection.destroy();
  await side().remove();
});

async function connected({ socket }: Pick<SocketOfRun, "socket">): Promise<Socket> {
  const connection = connect(socket);
  opened.push(connection);
  // Cut off is what the other side may do.
  connection.on("error", () => undefined);
  await once(connection, "connect");
  return connection;
}

test("a client without a token can't block a run by holding connections open", async () => {
  for (let n = 0; n < 300; n += 1) await connected(one());
  for (let n = 0; n < 10; n += 1) expect(await post(one(), "lock")).toMatchObject({ status: 200 });
});

test("a client without a token can't block a run by pipelined requests", async () => {
  const before = process.memoryUsage.rss();
  const { closed } = await withStrangers(one().socket, 100, async () => {
    for (let n = 0; n < 50; n += 1)
      expect(await post(one(), "lock")).toMatchObject({ status: 200 });
  });
  expect(closed).toBeGreaterThan(50);
  expect((process.memoryUsage.rss() - before) / 1024 ** 2).toBeLessThan(100);
});

test("a client without a token can't disconnect a run that waits for a response", async () => {
  const { waiting, resolve } = await waitingRun(side(), one());
  for (let n = 0; n < 100; n += 1) await connected(one());
  resolve();
  expect(await waiting).toMatchObject({ timedOut: true });
  expect(side().abilities.asked).toHaveLength(1);
});

test.each([
  ["/run/lock", /^HTTP\/1\.1 401 /],
  ["/run/%zz", /^HTTP\/1\.1 400 /],
])(
  "a client without a token is rejected without reading the whole body: %s",
  async (path, refused) => {
    const connection = await connected(one());
    const closed = once(connection, "close");
    let told = "";
    connection.on("data", (bytes: Buffer) => (told += bytes.toString()));
    connection.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer forged\r\n`);
    connection.write("Content-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n{");
    await closed;
    expect(told).toMatch(refused);
    expect(told).toMatch(/^connection: close\r$/im);
  },
);

test("a run that aborts its requests can't have more of them at once than other runs", async () => {
  const { promise, resolve } = held<RequestAnswer<"wait">>();
  side().abilities.answers.wait = () => promise;
  const gone = new AbortController();
  const asked = Array.from({ length: 64 }, () =>
    clientOf(one()).ask("wait", { kind: "webhook" }, gone.signal),
  );
  await expect.poll(() => side().abilities.asked.length).toBe(64);
  gone.abort();
  await Promise.allSettled(asked);
  await expect.poll(() => side().abilities.asked.every(({ signal }) => signal.aborted)).toBe(true);
  expect(await post(one(), "lock")).toMatchObject({ status: 429 });
  resolve(waitOver);
  await expect.poll(async () => (await post(one(), "lock")).status).toBe(200);
});
