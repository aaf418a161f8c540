import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { createRunApiClient } from "../../../../src/runtime/harness/run-api/client.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

let dir: string;
let server: Server;
let asked: { readonly url: string; readonly key: unknown; readonly answer: ServerResponse }[];

beforeEach(async () => {
  dir = tempDir();
  asked = [];
  server = createServer((request, answer) => {
    request.resume();
    asked.push({ url: request.url ?? "", key: request.headers["idempotency-key"], answer });
  });
  server.listen(join(dir, "channel.sock"));
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const aClient = () => createRunApiClient({ socket: join(dir, "channel.sock"), token: "t" });
const never = new AbortController().signal;

test("the client reports an abandoned wait, under the key of the wait", async () => {
  const gone = new AbortController();
  const waiting = aClient().ask("wait", { kind: "webhook" }, gone.signal);
  await expect.poll(() => asked.length).toBe(1);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ problem: { error: "unavailable" } });
  await expect.poll(() => asked.map(({ url }) => url)).toEqual(["/run/wait", "/run/cancel"]);
  expect(asked[1]?.key).toBe(asked[0]?.key);
});

test("the client retries after a 503 and a broken connection, under the same key", async () => {
  const unlocked = aClient().ask("unlock", { resource: "x:y" }, never);
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.answer.writeHead(503).end("{}");
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.answer.destroy();
  await expect.poll(() => asked.length).toBe(3);
  asked[2]?.answer.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  expect(await unlocked).toEqual({ ok: true });
  expect(new Set(asked.map(({ key }) => key)).size).toBe(1);
});

test("the client rejects an answer that it doesn't know", async () => {
  const unlocked = aClient().ask("unlock", { resource: "x:y" }, never);
  await expect.poll(() => asked.length).toBe(1);
  asked[0]?.answer.writeHead(200).end('{"ok":"perhaps"}');
  await expect(unlocked).rejects.toMatchObject({
    problem: { error: "unavailable", detail: /none that this version knows/ },
  });
});

test("the client asks a person for as long as the scheduler is down, and gives up everything else", async () => {
  const client = createRunApiClient({ socket: join(dir, "channel.sock"), token: "t" }, 1);
  const answer = { ok: true, answer: "yes", by: null, at: "2026-11-27T00:00:00Z" };
  const question = client.ask("ask", { question: "Deploy?" }, never);
  const unlocked = client.ask("unlock", { resource: "x:y" }, never);
  await expect.poll(() => asked.length).toBe(2);
  for (const { answer: response } of asked.splice(0)) response.writeHead(503).end("{}");
  await expect(unlocked).rejects.toMatchObject({ problem: { error: "unavailable" } });
  await expect.poll(() => asked.length).toBe(1);
  const json = { "content-type": "application/json" };
  asked[0]?.answer.writeHead(200, json).end(JSON.stringify(answer));
  expect(await question).toEqual(answer);
});
