import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { startGateway, startWire, type Answer, type TestGatewayOptions } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { completions } from "./wires/openai.ts";

const sent = anthropic.stream("\n");
const untilUsage = sent.indexOf("event: message_delta");

/** A provider whose answers the test gives, and a client that is about to hang up. */
async function start(options: TestGatewayOptions = {}) {
  const answers: ServerResponse[] = [];
  const wire = options.model?.api === "anthropic-messages" ? anthropic : completions;
  const answer: Answer = (_asked, response) => answers.push(response);
  const { gateway, url } = await startWire(wire, answer, options);
  const ask = async (): Promise<{ client: ClientRequest; answer: ServerResponse }> => {
    const before = answers.length;
    const client = httpRequest(url, { method: "POST" }).on("error", () => undefined);
    client.end(JSON.stringify(wire.body));
    await expect.poll(() => answers.length).toBe(before + 1);
    const answer = answers[before];
    if (answer === undefined) throw new Error("the provider was not asked");
    return { client, answer };
  };
  return { gateway, ask };
}

const streamed = { model: { api: "anthropic-messages" } } as const;

/** Hangs up when the stream has begun. */
async function hangUp(client: ClientRequest, answer: ServerResponse): Promise<void> {
  answer.writeHead(200, { "content-type": "text/event-stream" });
  answer.write(sent.slice(0, untilUsage));
  const [response] = (await once(client, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  await once(response, "data");
  await leave(client);
}

/** The gateway knows that the client is gone. */
async function leave(client: ClientRequest): Promise<void> {
  client.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a client that hangs up before the answer lets it be read to its end, at the cost that the provider counted", async () => {
  const { gateway, ask } = await start();
  const { client, answer } = await ask();
  await leave(client);
  answer.writeHead(200, { "content-type": "application/json" });
  answer.end(JSON.stringify(completions.plain));
  const { usage } = completions;
  const end = { status: 200, usage, estimated: false, isCut: false };
  expect(await gateway.settled()).toMatchObject(end);
  expect(gateway.problems).toEqual([]);
});

test("a client that hangs up in the middle of a stream lets it be read to its usage", async () => {
  const { gateway, ask } = await start(streamed);
  const { client, answer } = await ask();
  await hangUp(client, answer);
  expect(gateway.meter.ends).toEqual([]);
  answer.end(sent.slice(untilUsage));
  const end = { usage: anthropic.usage, estimated: false, isCut: false };
  expect(await gateway.settled()).toMatchObject(end);
  expect(gateway.problems).toEqual([]);
});

test("a client that hangs up on a provider that then refuses costs nothing", async () => {
  const { gateway, ask } = await start();
  const { client, answer } = await ask();
  await leave(client);
  answer.destroy();
  await gateway.settled();
  for (const status of [429, 500]) {
    const next = await ask();
    await leave(next.client);
    next.answer.writeHead(status).end();
  }
  await gateway.settled(3);
  const free = { usage: null, isCut: false };
  expect(gateway.meter.ends).toMatchObject([free, free, free]);
});

test("a client that hangs up gets its call cut if the provider sends for longer than the limit", async () => {
  const { gateway, ask } = await start({ ...streamed, readOnMs: 200, idleMs: 5_000 });
  const { client, answer } = await ask();
  await hangUp(client, answer);
  answer.on("error", () => undefined);
  const sending = setInterval(() => answer.write(": ping\n\n"), 20);
  const began = performance.now();
  await once(answer, "close");
  clearInterval(sending);
  expect(performance.now() - began).toBeGreaterThan(150);
  const usage = { ...anthropic.usage, output: 26 };
  const cut = { estimated: true, isCut: true, isHungUp: true };
  expect(await gateway.settled()).toMatchObject({ status: 200, usage, ...cut });
  expect(gateway.problems).toEqual([]);
});

test("a client that hangs up on a silent provider is charged for its input and the output so far, not for the reservation", async () => {
  const { gateway, ask } = await start({ ...streamed, readOnMs: 100, idleMs: 400 });
  const began = performance.now();
  const silent = await ask();
  await leave(silent.client);
  const seen = { estimated: true, isCut: false };
  expect(await gateway.settled()).toMatchObject({ status: null, usage: { output: 0 }, ...seen });
  expect(performance.now() - began).toBeGreaterThan(390);
  const halfway = await ask();
  await hangUp(halfway.client, halfway.answer);
  const usage = { ...anthropic.usage, output: 26 };
  expect(await gateway.settled(2)).toMatchObject({ status: 200, usage, ...seen });
  expect(gateway.problems).toEqual([]);
});

test("a client that hangs up gets its call cut if the answer exceeds the limit", async () => {
  const { gateway, ask } = await start({ ...streamed, readOnBytes: 1_000_000 });
  const { client, answer } = await ask();
  await hangUp(client, answer);
  answer.on("error", () => undefined);
  answer.write(`: ${"x".repeat(1_000_000)}\n\n`);
  expect(await gateway.settled()).toMatchObject({ isCut: true });
});

test("a client that hangs up leaves at most the limit of calls to be read, and frees a place when one ends", async () => {
  const { gateway, ask } = await start({ readOnCalls: 1 });
  const first = await ask();
  await leave(first.client);
  const second = await ask();
  await leave(second.client);
  expect(await gateway.settled()).toMatchObject({ status: null, isCut: true });
  first.answer.end();
  expect(await gateway.settled(2)).toMatchObject({ status: 200, isCut: false });
  const third = await ask();
  await leave(third.client);
  expect(gateway.meter.ends).toHaveLength(2);
  third.answer.end();
  await gateway.settled(3);
});

test("a client that hangs up because the scheduler ends its run gets its call cut at once, charged for its request and the streamed part of its answer", async () => {
  let isEnding = false;
  const { gateway, ask } = await start({ ...streamed, isEnding: () => isEnding });
  const { client, answer } = await ask();
  isEnding = true;
  await hangUp(client, answer);
  const usage = { ...anthropic.usage, output: 26 };
  const cut = { estimated: true, isCut: true, isHungUp: false };
  expect(await gateway.settled()).toMatchObject({ status: 200, usage, ...cut });
});

test("a client that hangs up does not delay a stop of the scheduler, which cuts the call", async () => {
  const { gateway, ask } = await start();
  const { client } = await ask();
  await leave(client);
  await gateway.gateway.close();
  const cut = { status: null, estimated: true, isCut: true, isHungUp: false };
  expect(gateway.meter.ends).toMatchObject([cut]);
});

test("a client that hangs up during its body is not forwarded", async () => {
  const { origin, meter, problems } = await startGateway();
  const url = `${origin}/model/one/127.0.0.1:1/v1/chat/completions`;
  const client = httpRequest(url, { method: "POST" }).on("error", () => undefined);
  client.write('{"messages":');
  await new Promise((resolve) => setTimeout(resolve, 50));
  await leave(client);
  expect([meter.plans, problems]).toEqual([[], []]);
});
