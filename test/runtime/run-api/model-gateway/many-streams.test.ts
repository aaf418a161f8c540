import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { post, startWire } from "./support.ts";
import { completions } from "./wires/openai.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const mebibyte = 1024 * 1024;

/** What the process holds, in MiB, after a garbage collection. */
async function heldMiB(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}

async function opened(url: string, body: string): Promise<IncomingMessage> {
  const request = httpRequest(url, { method: "POST", agent: false });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

test("100 streams at once keep no sent body in memory, and each gets its own answer to its end", async () => {
  const letGo = Promise.withResolvers<undefined>();
  const answer = async (user: string, response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"user":"${user}"}\n\n`);
    await letGo.promise;
    response.end(completions.stream("\n"));
  };
  // The provider of the test keeps no body itself.
  const { provider, gateway, url } = await startWire(completions, ({ json }, response) => {
    provider.asked.length = 0;
    void answer(String(json.user), response);
  });
  const before = await heldMiB();
  const padding = "x".repeat(mebibyte / 2);
  const streams: IncomingMessage[] = [];
  for (let n = 0; n < 100; n++) {
    const messages = [{ role: "user", content: padding }];
    const body = JSON.stringify({ stream: true, user: `user ${n}`, messages });
    streams.push(await opened(url, body));
  }
  expect((await heldMiB()) - before).toBeLessThan(25);
  letGo.resolve(undefined);
  const texts = await Promise.all(streams.map((stream) => textOf(stream)));
  texts.forEach((text, n) =>
    expect(text).toBe(`data: {"user":"user ${n}"}\n\n${completions.stream("\n")}`),
  );
  await gateway.settled(100);
  const { usage } = completions;
  for (const end of gateway.meter.ends) expect(end).toMatchObject({ usage, estimated: false });
}, 60_000);

test("100 streams at once are as fast as the slower of client and provider: a client that doesn't read stops its provider", async () => {
  const size = 64 * mebibyte;
  let written = 0;
  const { gateway, url } = await startWire(completions, async (_asked, response) => {
    response.on("error", () => undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = Buffer.from(`data: {"text":"${"x".repeat(65_000)}"}\n\n`);
    while (written < size && !response.destroyed) {
      written += chunk.length;
      if (!response.write(chunk)) await once(response, "drain").catch(() => undefined);
    }
    response.end();
  });
  const stream = await opened(url, "{}");
  stream.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(written).toBeLessThan(size / 2);
  expect((await textOf(stream)).length).toBe(written);
  await gateway.settled();
});

test("100 streams at once are undisturbed when some are cut", async () => {
  const { provider, gateway, url } = await startWire(completions, (_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const isCut = provider.asked.length % 3 === 0;
    response.write(completions.stream("\n").slice(0, -20));
    if (isCut) setTimeout(() => response.destroy(), 20);
    else response.end(completions.stream("\n").slice(-20));
  });
  const replies = await Promise.all(Array.from({ length: 99 }, () => post(url, completions.body)));
  expect(replies.filter(({ isWhole }) => isWhole)).toHaveLength(66);
  await gateway.settled(99);
  expect(gateway.problems).toHaveLength(33);
});

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
