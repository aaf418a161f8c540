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

  test("waits for a scheduler that is down, and sends a request once", async () => {
    const answer = ask();
    await pause(300, "the bridge must not answer before the scheduler is there");
    await serve((_request, response) => response.end("done"));
    expect(await (await answer).text()).toBe("done");
    expect(side().asked).toHaveLength(1);
  });

  test("breaks off a response that the scheduler broke off, after the part that came", async () => {
    const begun = Promise.withResolvers<() => void>();
    await serve((_request, response) => {
      response.writeHead(200, stream).write("data: 1\n\n");
      begun.resolve(() => response.destroy());
    });
    const reader = (await ask()).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toBe("data: 1\n\n");
    (await begun.promise)();
    await expect(reader?.read()).rejects.toThrow();
    expect(side().asked).toHaveLength(1);
  });

  test("streams a request's body while the client still sends it", async () => {
    const came = Promise.withResolvers<string>();
    await serve((request, response) => {
      request.once("data", (chunk: Buffer) => came.resolve(chunk.toString("utf8")));
      request.on("end", () => response.end("done"));
    });
    const { port } = new URL(side().bridge.proxyUrl);
    const headers = { "x-api-key": side().bridge.key, "content-length": 6 };
    const sent = request({ port, path: "/model/one/x/v1/messages", method: "POST", headers });
    sent.write("abc");
    expect(await came.promise).toBe("abc");
    sent.end("def");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(await text(response)).toBe("done");
  });

  test("ends the request of a client that hangs up", async () => {
    const closed = Promise.withResolvers<undefined>();
    await serve((request, response) => {
      request.socket.once("close", () => closed.resolve(undefined));
      response.write("data: 1\n\n");
    });
    const hangUp = new AbortController();
    await ask({ signal: hangUp.signal });
    hangUp.abort();
    await closed.promise;
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
});
