import {
  requestLines,
  responseLines,
} from "../../../../src/runtime/run-api/egress/forward-headers.ts";

test("headers of a forwarded request are the client's, without Host and those of the connection", () => {
  const raw = [
    "Host",
    "other.test",
    "Accept",
    "a",
    "accept",
    "b",
    "Proxy-Authorization",
    "Bearer x",
    "Connection",
    "keep-alive, X-Hop",
    "X-Hop",
    "1",
    "Keep-Alive",
    "1",
    "TE",
    "trailers",
    "Upgrade",
    "websocket",
    "Proxy-Connection",
    "keep-alive",
    "Expect",
    "100-continue",
  ];
  expect(requestLines(raw)).toEqual(["Accept", "a", "accept", "b", "connection", "close"]);
});

test("headers of a forwarded request keep Content-Length even if Connection lists it as hop-by-hop", () => {
  const raw = ["Connection", "content-length", "Content-Length", "3"];
  expect(requestLines(raw)).toEqual(["Content-Length", "3", "connection", "close"]);
});

test("headers of a forwarded request have one coding of the body, or the request is rejected", () => {
  const lines = ["transfer-encoding", "chunked", "connection", "close"];
  expect(requestLines(["Transfer-Encoding", "Chunked"])).toEqual(lines);
  expect(requestLines(["Transfer-Encoding", "gzip, chunked"])).toBeNull();
  expect(requestLines(["Transfer-Encoding", "chunked", "Transfer-Encoding", "gzip"])).toBeNull();
});

test("headers of a forwarded answer are the host's, without those of the connection", () => {
  const raw = [
    "Location",
    "http://other.test/",
    "Set-Cookie",
    "a",
    "Set-Cookie",
    "b",
    "Connection",
    "close",
    "Transfer-Encoding",
    "chunked",
    "Proxy-Authenticate",
    "Basic",
  ];
  expect(responseLines(raw)).toEqual([
    "Location",
    "http://other.test/",
    "Set-Cookie",
    "a",
    "Set-Cookie",
    "b",
  ]);
});
