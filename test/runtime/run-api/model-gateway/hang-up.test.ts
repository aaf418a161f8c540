import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { beginStream, startWire, type Answer, type TestGatewayOptions } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { completions } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

const sent = anthropic.stream("\n");
const untilUsage = sent.indexOf("event: message_delta");
/** Usage of a stream that is cut there. */
const usageSoFar = { ...anthropic.usage, output: 26 };

/** A provider whose answers the test gives, and a client that is about to hang up. */
async function start(wire: Wire, options: TestGatewayOptions = {}) {
  const answers: ServerResponse[] = [];
  const answer: Answer = (_asked, response) => answers.push(response);
  const { gateway, url } = await startWire(wire, answer, options);

  async function ask() {
    const before = answers.length;
    const client = httpRequest(url, { method: "POST" }).on("error", () => undefined);
    client.end(JSON.stringify(wire.body));
    await expect.poll(() => answers.length).toBe(before + 1);
    const [answer] = answers.slice(before);
    if (answer === undefined) throw new Error("the provider was not asked");
    return { client, answer: answer.on("error", () => undefined) };
  }

  /** Resolves when the gateway knows that the client is gone. */
  async function leave(client: ClientRequest) {
    client.destroy();
    await expect.poll(() => gateway.responses.at(-1)?.closed).toBe(true);
  }

  /** Asks, and hangs up before the answer. */
  async function left(): Promise<ServerResponse> {
    const { client, answer } = await ask();
    await leave(client);
    return answer;
  }

  /** Hangs up when the stream has begun. */
  async function hangUp(client: ClientRequest, answer: ServerResponse): Promise<void> {
    beginStream(answer, sent.slice(0, untilUsage));
    const [response] = (await once(client, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    await once(response, "data");
    await leave(client);
  }
  return { gateway, url, ask, leave, left, hangUp };
}

test("a model call whose client disconnects during a stream is read until the provider reports the usage", async () => {
  const { gateway, ask, hangUp } = await start(anthropic);
  const { client, answer } = await ask();
  await hangUp(client, answer);
  expect(gateway.meter.ends).toEqual([]);
  answer.end(sent.slice(untilUsage));
  const end = { usage: anthropic.usage, estimated: false, isCut: false };
  expect(await gateway.settled()).toMatchObject(end);
  expect(gateway.problems).toEqual([]);
});

test.each([
  ["closes the connection", (answer: ServerResponse) => answer.destroy()],
  ["rejects the call", (answer: ServerResponse) => answer.writeHead(429).end()],
])(
  "a model call whose client disconnects costs nothing if the provider then %s",
  async (_what, reject) => {
    const { gateway, left } = await start(completions);
    reject(await left());
    expect(await gateway.settled()).toMatchObject({ usage: null, isCut: false });
  },
);

test.each([
  ["for longer than", { readOnMs: 100 }, ": ping\n\n"],
  ["more than", { readOnBytes: 1_000 }, `: ${"x".repeat(1_000)}\n\n`],
])(
  "a model call whose client disconnects is aborted if the provider sends %s the limit",
  async (_what, limit, more) => {
    const { gateway, ask, hangUp } = await start(anthropic, limit);
    const { client, answer } = await ask();
    await hangUp(client, answer);
    answer.write(more);
    await once(answer, "close");
    const cut = { usage: usageSoFar, estimated: true, isCut: true, isHungUp: true };
    expect(await gateway.settled()).toMatchObject(cut);
    expect(gateway.problems).toEqual([]);
  },
);

test("a model call whose client disconnects costs its input and its output so far if the provider stays silent", async () => {
  const { gateway, ask, left, hangUp } = await start(anthropic, { readOnMs: 50, idleMs: 400 });
  await left();
  // It is not cut by the limit for reading, which is shorter.
  const seen = { estimated: true, isCut: false };
  expect(await gateway.settled()).toMatchObject({ status: null, usage: { output: 0 }, ...seen });
  const { client, answer } = await ask();
  await hangUp(client, answer);
  expect(await gateway.settled(2)).toMatchObject({ status: 200, usage: usageSoFar, ...seen });
});

test("the model gateway aborts calls whose clients disconnected beyond a limit", async () => {
  const { gateway, left } = await start(completions, { readOnCalls: 1 });
  const first = await left();
  await left();
  expect(await gateway.settled()).toMatchObject({ status: null, isCut: true });
  first.end();
  expect(await gateway.settled(2)).toMatchObject({ status: 200, isCut: false });
  (await left()).end();
  expect(await gateway.settled(3)).toMatchObject({ status: 200, isCut: false });
});

test("a model call is aborted when its run is ended, and charged for input and streamed output", async () => {
  let isEnding = false;
  const { gateway, ask, hangUp } = await start(anthropic, { isEnding: () => isEnding });
  const { client, answer } = await ask();
  isEnding = true;
  await hangUp(client, answer);
  const cut = { usage: usageSoFar, estimated: true, isCut: true, isHungUp: false };
  expect(await gateway.settled()).toMatchObject(cut);
});

test("a model call whose client disconnects before its whole body is sent is not forwarded", async () => {
  const { gateway, url, leave } = await start(completions);
  const client = httpRequest(url, { method: "POST" }).on("error", () => undefined);
  client.setHeader("content-length", 99).write('{"messages":');
  await expect.poll(() => gateway.responses.length).toBe(1);
  await leave(client);
  expect([gateway.meter.plans, gateway.problems]).toEqual([[], []]);
});
