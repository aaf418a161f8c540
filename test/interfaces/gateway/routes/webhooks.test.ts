import { UserError } from "../../../../src/foundation/errors.ts";
import { openApp } from "../start-gateway.ts";

const setUp = () => openApp({ maxBodyBytes: 1000 });

test("a delivery is passed on byte by byte, with its headers and its path", async () => {
  const { app, operations } = await setUp();
  const payload = Buffer.from([0x7b, 0x20, 0xff, 0x00, 0x7d]);
  const headers = { "content-type": "application/json", "X-Hub-Signature-256": "sha256=abc" };
  const response = await app.inject({
    method: "POST",
    url: "/webhooks/github/main",
    headers,
    payload,
  });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ receiptId: "r1", matched: [] });
  expect(operations.deliveries).toMatchObject([{ type: "github", source: "main", body: payload }]);
  expect(operations.deliveries[0]?.headers["x-hub-signature-256"]).toBe("sha256=abc");
});

test.each(["application/x-www-form-urlencoded", "text/plain", "application/xml", undefined])(
  "the type %s is rejected unread",
  async (type) => {
    const { app, operations } = await setUp();
    const headers = type === undefined ? {} : { "content-type": type };
    const request = { method: "POST", url: "/webhooks/github", headers, payload: "a=b" } as const;
    expect((await app.inject(request)).statusCode).toBe(200);
    expect(operations.deliveries).toMatchObject([{ source: null, body: Buffer.from("a=b") }]);
  },
);

test("the memory of a body is free once its delivery is answered", async () => {
  const { app, operations } = await openApp({ maxBodyBytes: 100_000 });
  const sizes: number[] = [];
  const held: Buffer[] = [];
  operations.receiveWebhook = ({ body }) => {
    held.push(body);
    sizes.push(body.length);
    return Promise.resolve(operations.answer);
  };
  await app.inject({ method: "POST", url: "/webhooks/github", payload: "x".repeat(50_000) });
  expect(sizes).toEqual([50_000]);
  expect(held[0]).toHaveLength(0);
});

test("an empty delivery is accepted", async () => {
  const { app, operations } = await setUp();
  await app.inject({ method: "POST", url: "/webhooks/github" });
  expect(operations.deliveries).toMatchObject([{ body: Buffer.alloc(0) }]);
});

test.each([400, 401, 404, 503] as const)("a rejection is a %i problem", async (status) => {
  const { app, operations } = await setUp();
  operations.answer = { status, error: "bad_signature", detail: "It does not fit." };
  const response = await app.inject({ method: "POST", url: "/webhooks/github", payload: "{}" });
  expect(response.statusCode).toBe(status);
  expect(response.headers["content-type"]).toContain("application/problem+json");
  expect(response.json()).toMatchObject({ error: "bad_signature", detail: "It does not fit." });
});

test("the error of a delivery shows its sender no path of the credential store", async () => {
  const { app, deps, operations } = await setUp();
  const error = new UserError("unsafe_credential", "/home/me/.almanac/credentials is open");
  operations.receiveWebhook = () => Promise.reject(error);
  const response = await app.inject({ method: "POST", url: "/webhooks/github", payload: "{}" });
  expect(response.statusCode).toBe(500);
  expect(response.body).not.toContain(".almanac");
  expect(deps.lines.join()).toContain(error.message);
});

test("a body over the limit is a 413 and goes no further", async () => {
  const { app, operations } = await setUp();
  const request = { method: "POST", url: "/webhooks/github", payload: "x".repeat(1001) } as const;
  expect((await app.inject(request)).statusCode).toBe(413);
  expect(operations.deliveries).toEqual([]);
});
