import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { withHelloScheduler } from "./hello-scheduler.ts";

let scheduler: TestScheduler;
withHelloScheduler((started) => (scheduler = started));

/** What a proxy would take for a body, and a server that reads differently for a request with the proxy's rights. */
const hidden = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n";
const length = hidden.length;
const head = "POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\n";
const end = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Each of them means one thing to one reader and another to the next. */
const shapes: readonly (readonly [string, string])[] = [
  [
    "a length and chunks",
    `${head}Content-Length: ${length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "chunks and a length",
    `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${hidden}\r\n0\r\n\r\n`,
  ],
  ["two lengths", `${head}Content-Length: 0\r\nContent-Length: ${length}\r\n\r\n${hidden}`],
  ["two lengths in one", `${head}Content-Length: 0, ${length}\r\n\r\n${hidden}`],
  ["a length with a sign", `${head}Content-Length: +0\r\n\r\n${hidden}`],
  ["a length in hex", `${head}Content-Length: 0x0\r\n\r\n${hidden}`],
  ["a negative length", `${head}Content-Length: -1\r\n\r\n${hidden}`],
  ["a space before the colon", `${head}Content-Length : 0\r\n\r\n${hidden}`],
  [
    "a folded header",
    `${head}X: a\r\n Content-Length: 0\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  ["chunks of another name", `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
  [
    "chunked twice",
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  ["chunked not last", `${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n${hidden}`],
  [
    "a control character in the encoding",
    `${head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "lines without a carriage return",
    `${head.replaceAll("\r", "")}Transfer-Encoding: chunked\n\n0\n\n${hidden}`,
  ],
  ["a chunk whose size is none", `${head}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${hidden}`],
  [
    "a chunk larger than any",
    `${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n${hidden}`,
  ],
  [
    "a chunk that ends elsewhere",
    `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nZZ\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "a chunk extension with a bare line feed",
    `${head}Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\n${hidden}`,
  ],
  ["a NUL in a header", `${head}X: a\0b\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ["a carriage return alone", `${head}X: a\rContent-Length: ${length}\r\n\r\n${hidden}`],
];

test.each(shapes)(
  "a request that two parsers could read differently is refused, and nothing after it is read: %s",
  async (_what, text) => {
    const statuses = statusesIn(await exchange(scheduler.url, text + end));
    expect(statuses).toEqual([400]);
  },
);

const chunked = `${head}Transfer-Encoding: chunked\r\n`;
test.each([
  ["chunks", `${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`],
  ["a chunk extension", `${chunked}\r\n5;a=b\r\nhello\r\n0\r\n\r\n`],
  [
    "a trailer that claims a key",
    `${chunked}Trailer: x\r\n\r\n0\r\nAuthorization: Bearer x\r\n\r\n`,
  ],
  [
    "a GET with a body",
    `GET /webhooks/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${hidden}`,
  ],
])(
  "a request that is unusual but has one meaning is one request, and the next one is parsed after it: %s",
  async (_what, text) => {
    const statuses = statusesIn(await exchange(scheduler.url, text + end));
    expect(statuses).toHaveLength(2);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    expect(statuses[1]).toBe(200);
  },
);
