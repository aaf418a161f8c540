import { request, type RequestListener, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { bridgedScheduler, basic } from "./bridged-scheduler.ts";
import type { Tunnel } from "./bridged-scheduler.ts";
import { once } from "node:events";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(bridgedScheduler, (side) => side.remove());

const serve = (listener: RequestListener) => side().serve((socket) => socket.destroy(), listener);
const upstream = "https://api.anthropic.com/base";
const ask = (init: RequestInit = {}, rest = "/v1/messages?beta=true") =>
  fetch(`${side().bridge.baseUrl({ name: "the model/1" }, upstream)}${rest}`, {
    method: "POST",
    headers: { "x-api-key": side().bridge.key, "anthropic-version": "2023-06-01" },
    body: `{"a":1}`,
    ...init,
  });

test("the bridge never closes an idle connection", async () => {
  await serve((_request, response) => response.end("an answer"));
  expect((await ask()).headers.get("keep-alive")).toBeNull();
});

test("the bridge forwards a request with the run's token in place of the key, under the provider's host", async () => {
  const seen: unknown[] = [];
  await serve((request, response) => {
    void text(request).then((body) => {
      const { authorization, "x-api-key": key, "anthropic-version": version } = request.headers;
      seen.push({ url: request.url, method: request.method, authorization, key, version, body });
      response.writeHead(201, { "request-id": "r1" }).end("done");
    });
  });
  const answer = await ask();
  expect([answer.status, answer.headers.get("request-id"), await answer.text()]).toEqual([
    201,
    "r1",
    "done",
  ]);
  expect(seen).toEqual([
    {
      url: "/model/the%20model%2F1/api.anthropic.com/base/v1/messages?beta=true",
      method: "POST",
      authorization: "Bearer the-run-token",
      key: undefined,
      version: "2023-06-01",
      body: `{"a":1}`,
    },
  ]);
});

test.each([
  ["a bearer", () => ({ authorization: `Bearer ${side().bridge.key}` })],
  ["a subscription's token", () => ({ authorization: `Bearer sk-ant-oat01-${side().bridge.key}` })],
  ["Google's header", () => ({ "x-goog-api-key": side().bridge.key })],
])("the bridge accepts its key as %s", async (_name, headers) => {
  await serve((_request, response) => response.end("ok"));
  expect((await ask({ headers: headers() })).status).toBe(200);
});

test.each([
  ["no key", () => ({})],
  ["another key", () => ({ "x-api-key": "x".repeat(side().bridge.key.length) })],
])("the bridge rejects a request with %s, and does not forward it", async (_name, headers) => {
  let requests = 0;
  await serve((_request, response) => {
    requests += 1;
    response.end();
  });
  expect((await ask({ headers: headers() })).status).toBe(401);
  expect(requests).toBe(0);
});

test("the bridge forwards each part of an answer as it comes", async () => {
  await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
  });
  const parts = (await ask()).body as AsyncIterable<Uint8Array> | null;
  for await (const part of parts ?? []) {
    expect(Buffer.from(part).toString()).toBe("data: 1\n\n");
    return;
  }
});

test("the bridge waits for a scheduler that is away or starts, and repeats the request", async () => {
  const answer = ask();
  await wait(300);
  const bodies: string[] = [];
  await serve((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      if (bodies.length > 1) return void response.end("done");
      response.writeHead(503, { "content-type": "application/problem+json" }).end("{}");
    });
  });
  expect(await (await answer).text()).toBe("done");
  expect(bodies).toEqual([`{"a":1}`, `{"a":1}`]);
  expect(side().interrupted).toEqual([]);
});

test("the bridge reports an answer that broke off, and does not repeat the request", async () => {
  let requests = 0;
  await serve((_request, response) => {
    requests += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    setTimeout(() => response.destroy(), 50);
  });
  const answer = await ask();
  // A client that sees the end of the answer finds it counted: by that it knows whether to ask once more.
  const counted = await answer.text().catch(() => side().interrupted.length);
  expect(counted).toBe(1);
  expect(requests).toBe(1);
});

test("an answer that the provider broke off is broken off for the client, and is not an interruption", async () => {
  await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    response.addTrailers({ "x-al-problem": "upstream_broke_off" });
    response.end();
  });
  await expect((await ask()).text()).rejects.toThrow();
  expect(side().interrupted).toEqual(["the model's provider broke its answer off"]);
});

test("a client that hangs up ends the request, which is not an interruption", async () => {
  const closed = Promise.withResolvers<undefined>();
  await serve((request, response) => {
    request.socket.once("close", () => closed.resolve(undefined));
    response.write("data: 1\n\n");
  });
  const hangUp = new AbortController();
  await ask({ signal: hangUp.signal });
  hangUp.abort();
  await closed.promise;
  expect(side().interrupted).toEqual([]);
});

test("a provider's own 503 is an answer like any other", async () => {
  await serve((_request, response) => {
    response.writeHead(503, { "content-type": "application/json" }).end("{}");
  });
  expect((await ask()).status).toBe(503);
});

test("the bridge rejects more than 32 MiB", async () => {
  await serve((_request, response) => response.end("done"));
  expect((await ask({ body: Buffer.alloc(32 * 1024 * 1024 + 1) })).status).toBe(413);
  const largest = await ask({ body: Buffer.alloc(32 * 1024 * 1024) });
  expect(await largest.text()).toBe("done");
});

describe("a request with an absolute URL", () => {
  const ask = async (
    url: string,
    {
      body,
      key = side().bridge.key,
      method = "GET",
    }: { body?: string; key?: string; method?: string } = {},
  ) => {
    const { hostname, port } = new URL(side().bridge.proxyUrl);
    const headers = {
      host: "plain.test",
      "x-own": "1",
      "proxy-connection": "keep-alive",
      "proxy-authorization": basic(key),
    };
    const sent = request({ hostname, port, path: url, method, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { response, body: await text(response) };
  };
  const none: Tunnel = (socket) => socket.destroy();

  test("is forwarded to the scheduler unchanged, with the token, and its answer comes back unchanged", async () => {
    let body = "";
    await side().serve(none, (incoming, response) => {
      void text(incoming).then((given) => {
        body = given;
        response.writeHead(418, "Short and stout", { "X-Tea": ["a", "b"] }).end("tea");
      });
    });
    const answer = await ask("http://plain.test/a?b=c", { method: "POST", body: "the body" });
    expect([answer.response.statusCode, answer.response.statusMessage]).toEqual([
      418,
      "Short and stout",
    ]);
    expect([answer.response.headersDistinct["x-tea"], answer.body]).toEqual([["a", "b"], "tea"]);
    const [{ url, headers }] = side().asked as [IncomingMessage];
    expect([url, body, headers.host, headers["x-own"]]).toEqual([
      "http://plain.test/a?b=c",
      "the body",
      "plain.test",
      "1",
    ]);
    expect(headers["proxy-authorization"]).toBe("Bearer the-run-token");
    expect(headers["proxy-connection"]).toBeUndefined();
  });

  test("has its body in chunks if it came so, for any method", async () => {
    let body = "";
    await side().serve(none, (incoming, response) => {
      void text(incoming).then((given) => {
        body = given;
        response.end("fine");
      });
    });
    const { hostname, port } = new URL(side().bridge.proxyUrl);
    const headers = {
      "proxy-authorization": basic(side().bridge.key),
      "transfer-encoding": "chunked",
    };
    const inside = "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n";
    const sent = request({ hostname, port, path: "http://plain.test/", headers }).end(inside);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(await text(response)).toBe("fine");
    expect(body).toBe(inside);
    expect(side().asked.map(({ url }) => url)).toEqual(["http://plain.test/"]);
  });

  test("needs the key", async () => {
    await side().serve(none);
    const { response } = await ask("http://plain.test/", { key: "no" });
    expect(response.statusCode).toBe(407);
    expect(side().asked).toEqual([]);
  });

  test("waits for a scheduler that is down, and is sent once", async () => {
    const asked = ask("http://plain.test/", { method: "POST", body: "x" });
    await wait(300);
    await side().serve(none, (incoming, response) => {
      incoming.resume();
      response.writeHead(503, { "content-type": "application/problem+json" }).end("{}");
    });
    expect((await asked).response.statusCode).toBe(503);
    expect(side().asked).toHaveLength(1);
  });
});
