import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { openApp, startTcp, testDeps, bearer } from "./start-gateway.ts";
import { readStream } from "./event-stream.ts";

test.each([
  ["/dashboard", "br", brotliDecompressSync],
  ["/dashboard", "gzip", gunzipSync],
  ["/openapi.json", "gzip", gunzipSync],
  ["/metrics", "gzip", gunzipSync],
] as const)(
  "%s is compressed with %s for clients that accept it, with the same text",
  async (url, encoding, decompress) => {
    const { get } = await openApp();
    const plain = await get(url);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const small = await get(url, { headers: { "accept-encoding": `deflate, ${encoding}` } });
    expect(small.headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
    expect(small.headers["content-type"]).toBe(plain.headers["content-type"]);
    expect(small.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
    expect(decompress(small.rawPayload).toString()).toBe(plain.body);
  },
);

test("the overview of ten agents takes 35.8 kB at most", async () => {
  const agents = Array.from({ length: 10 }, (_, n) => ({ name: `agent-${n}` }));
  const { get } = await openApp({ operations: fakeOperations(agents) });
  const { rawPayload } = await get("/dashboard", { headers: { "accept-encoding": "br" } });
  expect(rawPayload.length).toBeLessThan(35_800);
});

test.each([
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, br;q=0", "gzip"],
  ["*", "gzip"],
  ["GZIP", "gzip"],
  ["gzip; q=0.000, br;q=1.0", "br"],
  ["zstd, gzip;q=0", "identity"],
  ["xgzip, xbr", "identity"],
])("a client with accept-encoding %j gets the encoding %s", async (accepted, encoding) => {
  const { get } = await openApp();
  const { headers } = await get("/openapi.json", { headers: { "accept-encoding": accepted } });
  expect(headers["content-encoding"] ?? "identity").toBe(encoding);
});

test("short answers stay uncompressed, and so do pages that may hold a token", async () => {
  const { get } = await openApp();
  for (const url of ["/locks/status", "/login"]) {
    const { headers, statusCode } = await get(url, { headers: { "accept-encoding": "gzip" } });
    expect(statusCode).toBe(200);
    expect(headers["content-encoding"], url).toBeUndefined();
  }
});

test("an event stream is not compressed, which would delay its events", async () => {
  const url = `${await startTcp(testDeps())}/dashboard/api/status-stream`;
  const stream = await readStream(url, { ...bearer, "accept-encoding": "gzip" });
  expect(stream.headers.get("content-encoding")).toBeNull();
  await expect.poll(() => stream.events()).toHaveLength(1);
});
