import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { createRunApiClient } from "../../../../src/runtime/harness/run-api/client.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const scheduler = perTest(
  async () => {
    const asked: { url: string | undefined; key: unknown; answer: ServerResponse }[] = [];
    const server = createServer((request, answer) => {
      request.resume();
      asked.push({ url: request.url, key: request.headers["idempotency-key"], answer });
    });
    const socket = join(tempDir(), "channel.sock");
    await once(server.listen(socket), "listening");
    return { server, socket, asked };
  },
  ({ server }) => {
    server.close();
    server.closeAllConnections();
  },
);

const aClient = (...limit: [number?]) =>
  createRunApiClient({ socket: scheduler().socket, token: "t" }, ...limit);
const never = new AbortController().signal;
const unlock = (client = aClient()) => client.ask("unlock", { resource: "x:y" }, never);

/** The answer to the request with this number, once it is there. */
async function request(number: number): Promise<ServerResponse> {
  const { asked } = scheduler();
  await expect.poll(() => asked.length).toBe(number);
  return asked[number - 1]?.answer as ServerResponse;
}
const json = { "content-type": "application/json" };

describe("the client of a run's socket", () => {
  test("cancels an aborted wait with the same idempotency key", async () => {
    const gone = new AbortController();
    const waiting = aClient().ask("wait", { kind: "webhook" }, gone.signal);
    await request(1);
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    await request(2);
    const [first, second] = scheduler().asked;
    expect([first?.url, second?.url]).toEqual(["/run/wait", "/run/cancel"]);
    expect(second?.key).toBe(first?.key);
  });

  test("retries a request after a 503 and a broken connection, with the same idempotency key", async () => {
    const unlocked = unlock();
    (await request(1)).writeHead(503).end("{}");
    (await request(2)).destroy();
    (await request(3)).writeHead(200, json).end('{"ok":true}');
    expect(await unlocked).toEqual({ ok: true });
    expect(new Set(scheduler().asked.map(({ key }) => key)).size).toBe(1);
  });

  test("rejects a response of an unknown form", async () => {
    const unlocked = unlock();
    (await request(1)).writeHead(200).end('{"ok":"perhaps"}');
    await expect(unlocked).rejects.toMatchObject({
      code: "unavailable",
      message: /none that this version knows/,
    });
  });

  test("retries a question to a person while the scheduler is down; other requests give up", async () => {
    const client = aClient(1);
    const answer = { ok: true, answer: "yes", by: null, at: "2026-11-27T00:00:00Z" };
    const question = client.ask("ask", { question: "Deploy?" }, never);
    const unlocked = unlock(client);
    await request(2);
    for (const { answer } of scheduler().asked) answer.writeHead(503).end("{}");
    await expect(unlocked).rejects.toMatchObject({ code: "unavailable" });
    (await request(3)).writeHead(200, json).end(JSON.stringify(answer));
    expect(await question).toEqual(answer);
  });
});
