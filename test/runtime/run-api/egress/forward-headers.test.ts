import {
  requestLines,
  responseLines,
} from "../../../../src/runtime/run-api/egress/forward-headers.ts";

/** Names and values in turn, as Node has them. */
const raw = (...lines: readonly string[]) => lines.flatMap((line) => line.split(": "));

test("headers of a forwarded request are the client's, except Host and hop-by-hop headers", () => {
  const lines = requestLines(
    raw(
      "Host: other.test",
      "Accept: a",
      "accept: b",
      "Proxy-Authorization: Bearer x",
      "Connection: keep-alive, X-Hop",
      "X-Hop: 1",
      "Keep-Alive: 1",
      "TE: trailers",
      "Upgrade: websocket",
      "Proxy-Connection: keep-alive",
      "Expect: 100-continue",
    ),
  );
  expect(lines).toEqual(raw("Accept: a", "accept: b", "connection: close"));
});

test("headers of a forwarded request keep Content-Length even if Connection lists it as hop-by-hop", () =>
  expect(requestLines(raw("Connection: content-length", "Content-Length: 3"))).toEqual(
    raw("Content-Length: 3", "connection: close"),
  ));

test("headers of a forwarded request are rejected with another transfer coding than chunked", () => {
  const [chunked, gzip] = ["Transfer-Encoding: Chunked", "Transfer-Encoding: gzip"];
  const lines = raw("transfer-encoding: chunked", "connection: close");
  expect(requestLines(raw(chunked))).toEqual(lines);
  expect(requestLines(raw(`${gzip}, chunked`))).toBeNull();
  expect(requestLines(raw(chunked, gzip))).toBeNull();
});

test("headers of a forwarded response are the host's, except hop-by-hop headers", () => {
  const own = ["Location: http://other.test/", "Set-Cookie: a", "Set-Cookie: b"];
  const hops = ["Connection: close", "Transfer-Encoding: chunked", "Proxy-Authenticate: Basic"];
  expect(responseLines(raw(...own, ...hops))).toEqual(raw(...own));
});
