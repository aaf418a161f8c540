import { readStream } from "../event-stream.ts";
import { bearer, logIn, openApp, startTcp, testDeps } from "../start-gateway.ts";

test("metrics are in Prometheus' format, for the key only and not for a browser's session", async () => {
  const { app, get } = await openApp();
  const response = await get("/metrics");
  expect(response.statusCode).toBe(200);
  expect(response.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(response.body).toContain('almanac_info{version="0.1.0"} 1\n');
  const cookie = await logIn(app);
  for (const headers of [{}, { cookie }, { cookie, "sec-fetch-site": "same-origin" }]) {
    expect((await app.inject({ url: "/metrics", headers })).statusCode).toBe(401);
  }
});

test("stream clients are counted as they connect and leave", async () => {
  const url = await startTcp(testDeps());
  const clients = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers: bearer })).text();
    return [...text.matchAll(/^almanac_stream_clients\{stream="(\w+)"\} (\d+)$/gm)].map(
      ([, stream, n]) => `${stream ?? ""} ${n ?? ""}`,
    );
  };
  expect(await clients()).toEqual(["status 0", "logs 0"]);
  const status = await readStream(`${url}/dashboard/api/status-stream`, bearer);
  await readStream(`${url}/dashboard/api/status-stream`, bearer);
  await readStream(`${url}/api/logs/stream`, bearer);
  expect(await clients()).toEqual(["status 2", "logs 1"]);
  status.close();
  await expect.poll(clients).toEqual(["status 1", "logs 1"]);
});
