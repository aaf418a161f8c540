import { request } from "node:http";
import { fastify } from "fastify";
import { limitBodies } from "../../../src/interfaces/gateway/limit-bodies.ts";

const kilobyte = 1024;

/** A server that takes bodies and answers with their size, holding `maxBytes` of them. */
async function server(maxBytes: number) {
  const app = fastify({ bodyLimit: 1_000 * kilobyte });
  onTestFinished(() => app.close());
  const lines: string[] = [];
  app.decorateRequest("caller", null);
  limitBodies(app, maxBytes, (_level, message) => void lines.push(message));
  let received = 0;
  app.addHook("preParsing", (_request, _reply, payload, done) => {
    payload.on("data", (chunk: Buffer) => (received += chunk.length));
    done(null, payload);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) =>
    reply.code((error as { status?: number; statusCode?: number }).status ?? 500).send("refused"),
  );
  app.post("/", ({ body }) => String((body as Buffer).length));
  return { url: await app.listen({ host: "127.0.0.1", port: 0 }), lines, received: () => received };
}

/** Sends this much, and does not end. */
function sender(url: string, bytes: number) {
  let [status, text]: [number | null, string] = [null, ""];
  const sent = request(url, { method: "POST", headers: { "content-type": "a/b" }, agent: false });
  sent.on("error", () => undefined);
  sent.on("response", (response) => {
    status = response.statusCode ?? null;
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  });
  sent.write(Buffer.alloc(bytes));
  return { sent, status: (): number | null => status, text: (): string => text };
}

test("the oldest large request body is rejected when all together are too large", async () => {
  const { url, lines, received } = await server(500 * kilobyte);
  const first = sender(url, 200 * kilobyte);
  await expect.poll(received).toBe(200 * kilobyte);
  const small = sender(url, 10);
  const second = sender(url, 200 * kilobyte);
  await expect.poll(received).toBe(400 * kilobyte + 10);
  expect([first.status(), second.status()]).toEqual([null, null]);
  const third = sender(url, 200 * kilobyte);
  await expect.poll(() => first.status()).toBe(503);
  for (const { sent } of [small, second, third]) sent.end();
  await expect.poll(() => small.text()).toBe("10");
  await expect.poll(() => second.text()).toBe(String(200 * kilobyte));
  await expect.poll(() => third.text()).toBe(String(200 * kilobyte));
  expect(lines).toEqual([
    `refused a body: unverified requests hold ${500 * kilobyte} bytes, which is the limit`,
  ]);
});

test("answered requests make room for new bodies", async () => {
  const { url, lines, received } = await server(500 * kilobyte);
  for (let n = 0; n < 5; n++) {
    const one = sender(url, 300 * kilobyte);
    one.sent.end();
    await expect.poll(() => one.text()).toBe(String(300 * kilobyte));
  }
  const broken = sender(url, 300 * kilobyte);
  await expect.poll(received).toBe(6 * 300 * kilobyte);
  broken.sent.destroy();
  const last = sender(url, 300 * kilobyte);
  last.sent.end();
  await expect.poll(() => last.text()).toBe(String(300 * kilobyte));
  expect(lines).toEqual([]);
});
