import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { basic, bridgedScheduler } from "./bridged-scheduler.ts";
import type { BridgedScheduler, Tunnel } from "./bridged-scheduler.ts";

let side: BridgedScheduler;
beforeEach(async () => {
  side = await bridgedScheduler();
});
afterEach(() => side.remove());

describe("a request with an absolute URL", () => {
  const ask = async (
    url: string,
    {
      body,
      key = side.bridge.key,
      method = "GET",
    }: { body?: string; key?: string; method?: string } = {},
  ) => {
    const { hostname, port } = new URL(side.bridge.proxyUrl);
    const headers = {
      ...{ host: "plain.test", "x-own": "1", "proxy-connection": "keep-alive" },
      "proxy-authorization": basic(key),
    };
    const sent = request({ hostname, port, path: url, method, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { response, body: await text(response) };
  };
  const none: Tunnel = (socket) => socket.destroy();

  it("is forwarded to the scheduler unchanged, with the token, and its answer comes back unchanged", async () => {
    let body = "";
    await side.serve(none, (incoming, response) => {
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
    const [{ url, headers }] = side.asked as [IncomingMessage];
    expect([url, body, headers.host, headers["x-own"]]).toEqual([
      ...["http://plain.test/a?b=c", "the body", "plain.test", "1"],
    ]);
    expect(headers["proxy-authorization"]).toBe("Bearer the-run-token");
    expect(headers["proxy-connection"]).toBeUndefined();
  });

  it("has its body in chunks if it came so, for any method", async () => {
    let body = "";
    await side.serve(none, (incoming, response) => {
      void text(incoming).then((given) => {
        body = given;
        response.end("fine");
      });
    });
    const { hostname, port } = new URL(side.bridge.proxyUrl);
    const headers = {
      "proxy-authorization": basic(side.bridge.key),
      "transfer-encoding": "chunked",
    };
    const inside = "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n";
    const sent = request({ hostname, port, path: "http://plain.test/", headers }).end(inside);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(await text(response)).toBe("fine");
    expect(body).toBe(inside);
    expect(side.asked.map(({ url }) => url)).toEqual(["http://plain.test/"]);
  });

  it("needs the key", async () => {
    await side.serve(none);
    const { response } = await ask("http://plain.test/", { key: "no" });
    expect(response.statusCode).toBe(407);
    expect(side.asked).toEqual([]);
  });

  it("waits for a scheduler that is down, and is sent once", async () => {
    const asked = ask("http://plain.test/", { method: "POST", body: "x" });
    await wait(300);
    await side.serve(none, (incoming, response) => {
      incoming.resume();
      response.writeHead(503, { "content-type": "application/problem+json" }).end("{}");
    });
    expect((await asked).response.statusCode).toBe(503);
    expect(side.asked).toHaveLength(1);
  });
});
