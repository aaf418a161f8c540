import { aDelivery } from "../../../helpers/fake-alerts.ts";
import { aQuestionView } from "../../../helpers/fake-questions.ts";
import { openApp } from "../start-gateway.ts";
import { dead, fill, receiptId } from "./api-samples.ts";

async function ask(request: string, payload?: object) {
  const opened = await openApp();
  await fill(opened);
  const [method, url = ""] = request.split(" ");
  const response = await opened.get(url, { method: method as "GET", ...(payload && { payload }) });
  return { answer: [response.statusCode, response.json()], ...opened };
}

test.each([
  ["GET /api/stats/triggers/b/calls", "unknown_trigger"],
  ["GET /api/agents/nope/why-not?limit=5", "unknown_agent"],
  ["GET /api/agents/ops/hosts", "unknown_agent"],
  ["GET /api/runs/dev-cccccccc", "unknown_instance"],
  ["GET /api/runs/dev-cccccccc/diff", "unknown_instance"],
  ["GET /api/runs/dev-bbbbbbbb/diff?to=..", "unknown_instance"],
  ["GET /api/runs/..%2f..%2fdev-bbbbbbbb", "unknown_instance"],
  ["GET /api/stats/webhooks/0193a1b2-0000-7000-8000-00000000dead", "unknown_receipt"],
  ["GET /api/stats/webhooks/..%2f..%2fetc", "unknown_receipt"],
  [`POST /api/webhooks/${receiptId}/replay?agent=nobody`, "unknown_agent"],
  [`POST /api/webhooks/${receiptId}/replay?agent=..%2fx`, "unknown_agent"],
  [`POST /api/alerts/${aDelivery(1).id}/retry`, "unknown_delivery"],
  ["POST /api/alerts/targets/..%2fops/test", "unknown_target"],
  ["GET /api/questions/none", "unknown_question"],
  ["POST /control/trigger/..%2f..%2fetc", "unknown_agent"],
  ["POST /control/trigger/a%00b", "unknown_agent"],
])("the operator API: %s is a 404 %s", async (request, error) => {
  expect((await ask(request)).answer).toMatchObject([404, { error }]);
});

const edit = { file: "config.toml", text: "", hash: "h" };

async function isMalformed(request: string, payload?: object) {
  const { answer, calls } = await ask(request, payload);
  expect([answer, calls]).toMatchObject([[400, { error: "malformed" }], []]);
}

test.each([
  "stats/triggers?page=0",
  "stats/triggers?limit=201",
  "stats/triggers?deadLetter=yes",
  "stats/triggers?kind=other",
  "stats/triggers?since=now",
  "stats/triggers?page=1&page=2",
  "stats/refused-deliveries?limit=0",
  "audit?act=dance",
  "spend?by=hour",
  "search",
  "search?q=a&limit=101",
  "search?q=a&kind=usage",
  "alerts?state=lost",
])("the operator API rejects GET /api/%s as malformed", (path) => isMalformed(`GET /api/${path}`));

test.each<[string, object]>([
  ["POST /api/budgets/project/raise", {}],
  ["POST /api/budgets/project/raise", { usd: 0 }],
  ["POST /api/budgets/project/raise", { usd: 1e9 }],
  ["POST /api/agents/dev/allow-host", { host: "a.test", port: 0 }],
  ["POST /api/agents/dev/allow-host", { host: "" }],
  [`POST /api/webhooks/${receiptId}/replay`, { agent: "dev" }],
  [`POST /api/alerts/${dead.id}/retry`, { all: true }],
  ["POST /api/alerts/ack", { agent: "dev", topic: "digest" }],
  ["POST /api/alerts/ack", { agent: "dev", until: "4h" }],
  ["POST /api/alerts/ack", { agent: "dev", undo: false }],
  ["POST /api/agents/dev/files", { ...edit, file: "../../config.toml" }],
  ["POST /api/agents/dev/files", { ...edit, file: "Dockerfile" }],
  ["POST /api/agents/dev/files", { file: "config.toml", text: "" }],
  [`POST /api/questions/${aQuestionView().id}/answer`, { answer: { yes: true } }],
])("the operator API rejects %s with the body %j as malformed", isMalformed);

describe("a body of the operator API", () => {
  test("may be missing, even with a content type", async () => {
    const { post } = await openApp();
    const json = { "content-type": "application/json" };
    expect((await post("/control/trigger/dev", { headers: json })).statusCode).toBe(202);
  });

  test.each([
    ["{", "application/json", 400, "malformed"],
    ['{"prompt":5}', "application/json", 400, "malformed"],
    ["[]", "application/json", 400, "malformed"],
    ['{"__proto__":{"prompt":"x"}}', "application/json", 400, "malformed"],
    ["prompt=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    ["one of 1 MB", "application/json", 413, "too_large"],
  ])("such as %s as %s is rejected with %i", async (text, type, status, error) => {
    const payload = status === 413 ? JSON.stringify("x".repeat(1024 * 1024)) : text;
    const { post, calls } = await openApp();
    const headers = { "content-type": type };
    const response = await post("/control/trigger/dev", { payload, headers });
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect([response.statusCode, response.json()]).toMatchObject([status, { error, status }]);
    expect(calls).toEqual([]);
  });

  test.each([
    ["trigger/dev", { promt: "hurry" }, 'unknown key "promt"; did you mean "prompt"?'],
    ["trigger/dev", { prompt: "x", when: 1 }, 'unknown key "when"; known here: prompt'],
    ["agents/dev/kill", { instance: "x" }, 'unknown key "instance"; this body has no keys'],
    ["trigger/dev", { a: 0, b: 1, c: 2, d: 3, e: 4 }, "and 2 more"],
  ])("for POST /control/%s is rejected with the unknown key of %j", async (path, payload, text) => {
    const { answer, calls } = await ask(`POST /control/${path}`, payload);
    const detail = expect.stringContaining(text) as string;
    expect([answer, calls]).toMatchObject([[400, { detail }], []]);
  });
});

test.each(["..%2f..%2fops", "."])("an edit of the agent %s reaches no file", async (agent) => {
  const { answer, calls } = await ask(`POST /api/agents/${agent}/files`, edit);
  expect([answer, calls]).toMatchObject([[404, {}], []]);
});

test.each([
  ["trigger/dev", 400],
  ["pause", 200],
])(
  "an overlong Idempotency-Key counts only where work starts: POST /control/%s",
  async (path, status) => {
    const headers = { "idempotency-key": "k".repeat(201) };
    expect((await (await openApp()).post(`/control/${path}`, { headers })).statusCode).toBe(status);
  },
);
