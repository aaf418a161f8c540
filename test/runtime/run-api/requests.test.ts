import { Problem } from "../../../src/foundation/errors.ts";
import type { RequestName } from "../../../src/runtime/wire/protocol.ts";
import { socketSide, clientOf, never, post, resource, openSocket } from "./support.ts";
import { perTest } from "../../helpers/per-test.ts";

const side = perTest(socketSide, (side) => side.remove());
const one = perTest(() => openSocket(side(), "dev-1"));

const wait = { kind: "webhook" };
const conditions = (n: number) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`member.${i}`, "xxx"]));

test.each<[string, RequestName | "nothing", unknown, Record<string, string>?]>([
  ["an unknown name", "nothing", {}],
  ["a resource that is not a URI", "lock", { resource: "a lock" }],
  ["a resource that is too long", "lock", { resource: `x:${"y".repeat(600)}` }],
  ["a resource with a terminal escape", "lock", { resource: "x:\u001b[2Jxxx" }],
  ["a source with a terminal escape", "wait", { ...wait, source: "\u009b2Jxxx" }],
  ["more than 32 conditions", "wait", { ...wait, where: conditions(33) }],
  ["a condition of 1025 characters", "wait", { ...wait, where: { a: "x".repeat(1025) } }],
  ["an unknown field", "lock", { resource, force: true }],
  ["an invalid idempotency key", "lock", { resource }, { "idempotency-key": "1" }],
  ["another media type", "lock", { resource }, { "content-type": "text/plain" }],
  ["a context of more than 64 Ki characters", "call", { agent: "b", context: "x".repeat(65_537) }],
  ["a body beyond all limits", "call", { agent: "b", context: "x".repeat(600_000) }],
  ["a negative time", "lock", { resource, waitSeconds: -1 }],
])(
  "a run's request with %s is rejected as malformed without quoting the value",
  async (_what, ability, body, headers = {}) => {
    const answer = await post(one(), ability, { body, headers }).catch((error: unknown) => error);
    // A client that still sends its far too long body may meet a closed connection first.
    if (answer instanceof Error) expect(answer).toMatchObject({ code: /ECONNRESET|EPIPE/ });
    else expect(answer).toMatchObject({ status: 400, body: { error: "malformed", status: 400 } });
    expect(JSON.stringify(answer)).not.toContain("xxx");
    expect(side().abilities.asked).toEqual([]);
    expect(side().problems).toEqual([]);
  },
);

test("a run's request accepts a resource in any language, and 32 conditions", async () => {
  expect(await post(one(), "lock", { body: { resource: "file:größe/日本" } })).toMatchObject({
    status: 200,
  });
  side().abilities.answers.wait = () => ({ ok: true, timedOut: true, trigger: null });
  const body = { ...wait, where: conditions(32) };
  expect(await post(one(), "wait", { body })).toMatchObject({ status: 200 });
});

test("a run's request accepts a context of 64 Ki characters, each escaped in JSON", async () => {
  const context = "\u0001".repeat(65_536);
  expect(await clientOf(one()).ask("call", { agent: "b", context }, never)).toMatchObject({
    state: "queued",
  });
  expect(side().abilities.asked[0]?.request).toEqual({ agent: "b", context });
});

test("a run's request gets a hint to retry after an unexpected error, whose details are only logged", async () => {
  side().abilities.answers.unlock = () =>
    Promise.reject(new Problem("store_unavailable", "disk on fire"));
  const { status, body } = await post(one(), "unlock");
  expect(status).toBe(503);
  expect(JSON.stringify(body)).not.toContain("fire");
  expect(side().problems).toEqual(["dev-1: disk on fire"]);
});
