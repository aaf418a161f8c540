import { request, type RequestListener, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { bridgedScheduler, basic } from "./bridged-scheduler.ts";
import { once } from "node:events";
import { pause } from "../../../helpers/pause.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(bridgedScheduler, (side) => side.remove());

const serve = (listener: RequestListener) => side().serve((socket) => socket.destroy(), listener);
const stream = { "content-type": "text/event-stream" };
const upstream = "https://api.anthropic.com/base";
const ask = (init: RequestInit = {}) =>
  fetch(`${side().bridge.baseUrl({ name: "the model/1" }, upstream)}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "x-api-key": side().bridge.key, "anthropic-version": "2023-06-01" },
    body: `{"a":1}`,
    ...init,
  });

describe("the run's proxy", () => {
  test("forwards a request with the run's token in place of the key, under the provider's host", async () => {
    let sent = "";
    await serve((request, response) => {
      void text(request).then((body) => {
        sent = body;
        response.writeHead(201, { "request-id": "r1" }).end("done");
      });
    });
    const answer = await ask();
    const { status, headers } = answer;
    expect([status, headers.get("request-id"), await answer.text()]).toEqual([201, "r1", "done"]);
    expect(headers.get("keep-alive"), "an idle connection is never closed").toBeNull();
    const [asked] = side().asked;
    expect([asked?.method, asked?.url, sent]).toEqual([
      "POST",
      "/model/the%20model%2F1/api.anthropic.com/base/v1/messages?beta=true",
      `{"a":1}`,
    ]);
    expect(asked?.headers).toMatchObject({
      authorization: "Bearer the-run-token",
      "anthropic-version": "2023-06-01",
    });
    expect(asked?.headers).not.toHaveProperty("x-api-key");
  });

  test.each([
    ["a bearer token", 200, () => ({ authorization: `Bearer ${side().bridge.key}` })],
    [
      "the token of a subscription",
      200,
      () => ({ authorization: `Bearer sk-ant-oat01-${side().bridge.key}` }),
    ],
    ["the key in Google's header", 200, () => ({ "x-goog-api-key": side().bridge.key })],
    ["no key", 401, () => ({})],
    ["another key", 401, () => ({ "x-api-key": "x".repeat(side().bridge.key.length) })],
  ])("responds to a request with %s: %i", async (_name, status, headers) => {
    await serve((_request, response) => response.end("ok"));
    expect((await ask({ headers: headers() })).status).toBe(status);
    expect(side().asked).toHaveLength(status === 200 ? 1 : 0);
  });

  test("forwards each chunk of a response at once", async () => {
    await serve((_request, response) => response.writeHead(200, stream).write("data: 1\n\n"));
    const reader = (await ask()).body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(Buffer.from(value ?? "").toString()).toBe("data: 1\n\n");
    await reader?.cancel();
  });

  test("repeats a request until the scheduler has started", async () => {
    const answer = ask();
    await pause(300, "the bridge must not answer before the scheduler is there");
    const bodies: string[] = [];
    await serve((request, response) => {
      void text(request).then((body) => {
        if (bodies.push(body) > 1) return void response.end("done");
        response.writeHead(503, { "content-type": "application/problem+json" }).end("{}");
      });
    });
    expect(await (await answer).text()).toBe("done");
    expect(bodies).toEqual([`{"a":1}`, `{"a":1}`]);
    expect(side().interrupted).toEqual([]);
  });

  test("reports a response that the scheduler broke off, and does not repeat the request", async () => {
    const begun = Promise.withResolvers<() => void>();
    await serve((_request, response) => {
      response.writeHead(200, stream).write("data: 1\n\n");
      begun.resolve(() => response.destroy());
    });
    const answer = await ask();
    (await begun.promise)();
    // A client that sees the end of the answer finds it counted: by that it knows whether to ask once more.
    const counted = await answer.text().catch(() => side().interrupted.length);
    expect(counted).toBe(1);
    expect(side().asked).toHaveLength(1);
  });

  test("breaks off a response that the model's provider broke off, and names the provider", async () => {
    await serve((_request, response) => {
      response.writeHead(200, stream).write("data: 1\n\n");
      response.addTrailers({ "x-al-problem": "upstream_broke_off" });
      response.end();
    });
    await expect((await ask()).text()).rejects.toThrow();
    expect(side().interrupted).toEqual(["the model's provider broke its answer off"]);
  });

  test("ends the request of a client that hangs up, without reporting it", async () => {
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

  test("forwards a provider's own 503 without a retry", async () => {
    await serve((_request, response) =>
      response.writeHead(503, { "content-type": "application/json" }).end("{}"),
    );
    expect((await ask()).status).toBe(503);
  });

  test("rejects request bodies above 32 MiB", async () => {
    await serve((_request, response) => response.end("done"));
    expect((await ask({ body: Buffer.alloc(32 * 1024 * 1024 + 1) })).status).toBe(413);
    const largest = await ask({ body: Buffer.alloc(32 * 1024 * 1024) });
    expect(await largest.text()).toBe("done");
  });
});

describe("a request to the run's proxy with an absolute URL", () => {
  const ask = async (method: string, body: string, more: Record<string, string> = {}) => {
    const { hostname, port } = new URL(side().bridge.proxyUrl);
    const headers = {
      host: "plain.test",
      "proxy-authorization": basic(side().bridge.key),
      ...more,
    };
    const path = "http://plain.test/a?b=c";
    const sent = request({ hostname, port, path, method, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { response, body: await text(response) };
  };
  const serveText = async (status: number, reason: string) => {
    const bodies: string[] = [];
    await serve((incoming, response) => {
      void text(incoming).then((body) => {
        bodies.push(body);
        response.writeHead(status, reason, { "X-Tea": ["a", "b"] }).end("tea");
      });
    });
    return bodies;
  };

  test("is forwarded to the scheduler with the token, and its response returned unchanged", async () => {
    const bodies = await serveText(418, "Short and stout");
    const own = { "x-own": "1", "proxy-connection": "keep-alive" };
    const { response, body } = await ask("POST", "the body", own);
    expect([response.statusCode, response.statusMessage]).toEqual([418, "Short and stout"]);
    expect([response.headersDistinct["x-tea"], body]).toEqual([["a", "b"], "tea"]);
    const [{ url, headers }] = side().asked as [IncomingMessage];
    expect([url, bodies]).toEqual(["http://plain.test/a?b=c", ["the body"]]);
    expect(headers).toMatchObject({
      host: "plain.test",
      "x-own": "1",
      "proxy-authorization": "Bearer the-run-token",
    });
    expect(headers).not.toHaveProperty("proxy-connection");
  });

  test("keeps its chunked body apart from the next request, also with GET", async () => {
    const bodies = await serveText(200, "OK");
    const inside = "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n";
    await ask("GET", inside, { "transfer-encoding": "chunked" });
    expect(bodies).toEqual([inside]);
  });

  test("is rejected with 407 without the key", async () => {
    await serveText(200, "OK");
    const { response } = await ask("GET", "", { "proxy-authorization": basic("no") });
    expect(response.statusCode).toBe(407);
    expect(side().asked).toEqual([]);
  });

  test("waits for a scheduler that is down, and is sent only once", async () => {
    const asked = ask("POST", "x");
    await pause(300, "the bridge must not answer before the scheduler is there");
    await serve((incoming, response) => {
      incoming.resume();
      response.writeHead(503, { "content-type": "application/problem+json" }).end("{}");
    });
    expect((await asked).response.statusCode).toBe(503);
    expect(side().asked).toHaveLength(1);
  });
});
