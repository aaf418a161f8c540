import { Problem } from "../../../../src/foundation/errors.ts";
import { openApp } from "../start-gateway.ts";

async function setUp(maxBodyBytes = 1000) {
  const { app, deps, operations } = await openApp({ maxBodyBytes });
  const send = (payload: string | Buffer, headers: Record<string, string> = {}, source = "") =>
    app.inject({ method: "POST", url: `/webhooks/github${source}`, headers, payload });
  return { deps, operations, send };
}

test("a delivery is passed on byte by byte, with its headers and its path", async () => {
  const { operations, send } = await setUp();
  const payload = Buffer.from([0x7b, 0x20, 0xff, 0x00, 0x7d]);
  const headers = { "content-type": "application/json", "X-Hub-Signature-256": "sha256=abc" };
  const response = await send(payload, headers, "/main");
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ receiptId: "r1", matched: [] });
  const passed = { type: "github", source: "main", body: payload };
  expect(operations.deliveries).toMatchObject([
    { ...passed, headers: { "x-hub-signature-256": "sha256=abc" } },
  ]);
});

test.each([
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, "a=b"],
  ["plain text", { "content-type": "text/plain" }, "a=b"],
  ["no type", {}, "a=b"],
  ["no body", {}, ""],
])(
  "a delivery with %s is passed on unread",
  async (_, headers: Record<string, string>, payload) => {
    const { operations, send } = await setUp();
    expect((await send(payload, headers)).statusCode).toBe(200);
    expect(operations.deliveries).toMatchObject([{ source: null, body: Buffer.from(payload) }]);
  },
);

test("the memory of a body is free once its delivery is answered", async () => {
  const { operations, send } = await setUp(100_000);
  const held: Buffer[] = [];
  operations.receiveWebhook = ({ body }) => {
    held.push(body);
    expect(body).toHaveLength(50_000);
    return Promise.resolve(operations.answer);
  };
  await send("x".repeat(50_000));
  expect(held.map(({ length }) => length)).toEqual([0]);
});

test.each([401, 503] as const)("a rejection of a delivery is a %i problem", async (status) => {
  const { operations, send } = await setUp();
  const problem = { error: "bad_signature", detail: "It does not fit." };
  operations.answer = { status, ...problem };
  const response = await send("{}");
  expect(response.headers["content-type"]).toContain("application/problem+json");
  expect([response.statusCode, response.json()]).toMatchObject([status, problem]);
});

test("the error of a delivery shows its sender no path of the credential store", async () => {
  const { deps, operations, send } = await setUp();
  const error = new Problem("unsafe_credential", "/home/me/.almanac/credentials is open");
  operations.receiveWebhook = () => Promise.reject(error);
  const response = await send("{}");
  expect(response.statusCode).toBe(500);
  expect(response.body).not.toContain(".almanac");
  expect(deps.lines.join()).toContain(error.message);
});

test("a body over the limit is a 413 and goes no further", async () => {
  const { operations, send } = await setUp();
  expect((await send("x".repeat(1001))).statusCode).toBe(413);
  expect(operations.deliveries).toEqual([]);
});
