import { exchange, statusesIn } from "../raw-http.ts";
import { helloScheduler } from "./hello-scheduler.ts";

const scheduler = helloScheduler();

/** What a proxy would take for a body, and a server that reads differently for a request with the proxy's rights. */
const hidden = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n";
const length = hidden.length;
const head = "POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\n";
const end = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/** A last chunk, and what hides behind it. */
const tail = `\r\n\r\n0\r\n\r\n${hidden}`;
const chunked = "Transfer-Encoding: chunked";

/** Each of these headers and bodies means one thing to one reader and another to the next. */
test.each([
  ["a length and chunks", `Content-Length: ${length + 5}\r\n${chunked}${tail}`],
  ["chunks and a length", `${chunked}\r\nContent-Length: 4\r\n\r\n5c\r\n${hidden}\r\n0\r\n\r\n`],
  ["two lengths", `Content-Length: 0\r\nContent-Length: ${length}\r\n\r\n${hidden}`],
  ["a space before the colon", `Content-Length : 0\r\n\r\n${hidden}`],
  ["a folded header", `X: a\r\n Content-Length: 0\r\nTransfer-Encoding:\r\n chunked${tail}`],
  ["chunked twice", `${chunked}\r\nTransfer-Encoding: identity${tail}`],
  ["a control character in the encoding", `Transfer-Encoding: \x0bchunked${tail}`],
  [
    "a chunk extension with a bare line feed",
    `${chunked}\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\n${hidden}`,
  ],
  ["a NUL in a header", `X: a\0b\r\nContent-Length: 0\r\n\r\n${hidden}`],
])(
  "an HTTP request that parsers could read differently is rejected, and the connection is closed: %s",
  async (_what, text) => {
    const said = await exchange(scheduler().url, head + text + end);
    expect(statusesIn(said)).toEqual([400]);
  },
);

test.each([
  ["chunks", `${head}${chunked}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`],
  ["a chunk extension", `${head}${chunked}\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n`],
  [
    "a trailer that claims a key",
    `${head}${chunked}\r\nTrailer: x\r\n\r\n0\r\nAuthorization: Bearer x\r\n\r\n`,
  ],
  ["a GET with a body", `${head.replace("POST", "GET")}Content-Length: ${length}\r\n\r\n${hidden}`],
])(
  "an unusual but unambiguous HTTP request is read as one request, and the next one is parsed after it: %s",
  async (_what, text) => {
    const [own, next, ...more] = statusesIn(await exchange(scheduler().url, text + end));
    expect(own).toBeGreaterThanOrEqual(400);
    expect([next, more]).toEqual([200, []]);
  },
);
