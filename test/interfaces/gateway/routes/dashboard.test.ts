import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { anAgent } from "../../../helpers/agents.ts";
import { bearer, testDeps } from "../start-gateway.ts";

async function get(url: string, deps = testDeps(), headers: Record<string, string> = {}) {
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  return await app.inject({ url, headers: { ...bearer, ...headers } });
}

test.each([
  ["/dashboard", "<title>hello · Almanac</title>"],
  ["/dashboard/triggers", "<title>Triggers · hello · Almanac</title>"],
  ["/dashboard/cost", "<title>Cost · hello · Almanac</title>"],
  ["/dashboard/search", "<title>Search · hello · Almanac</title>"],
  ["/dashboard/questions", "<title>Questions · hello · Almanac</title>"],
  ["/dashboard/alerts", "<title>Alerts · hello · Almanac</title>"],
  ["/dashboard/agents/dev", "<title>dev · hello · Almanac</title>"],
  ["/dashboard/agents/dev/logs", "<title>dev · log · hello · Almanac</title>"],
  ["/dashboard/agents/scheduler/logs", "<title>scheduler · log · hello · Almanac</title>"],
])("%s is a page that only its browser caches, and revalidates", async (url, title) => {
  const response = await get(url);
  expect(response.statusCode).toBe(200);
  expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(response.headers["cache-control"]).toBe("private, no-cache");
  expect(response.body).toContain(title);
});

test("a page that the browser has is not sent again until it changes", async () => {
  const deps = testDeps();
  const first = await get("/dashboard", deps);
  const headers = { "if-none-match": `"other", ${String(first.headers.etag)}` };
  const again = await get("/dashboard", deps, headers);
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  expect(again.headers.etag).toBe(first.headers.etag);
  expect(again.headers.vary).toBe("accept-encoding");
  expect(again.headers["content-security-policy"]).toBe(first.headers["content-security-policy"]);
  deps.operations.setAgent({ name: "dev", state: "running" });
  const changed = await get("/dashboard", deps, headers);
  expect(changed.statusCode).toBe(200);
  expect(changed.headers.etag).not.toBe(first.headers.etag);
});

test.each([
  "/dashboard/agents/nobody",
  "/dashboard/agents/nobody/logs",
  "/dashboard/agents/scheduler",
  "/dashboard/agents/..%2f..",
  "/dashboard/api/agents/nobody",
  "/dashboard/api/agents/scheduler",
  "/dashboard/api/logs/nobody/download",
])("%s is not found", async (url) => {
  const response = await get(url);
  expect(response.statusCode).toBe(404);
  expect(response.json()).toMatchObject({ error: "unknown_agent" });
});

test("a page escapes an agent's text, also in its data", async () => {
  const deps = testDeps();
  deps.operations.setAgent({ name: "dev", description: "</script><img src=x>" });
  const { body } = await get("/dashboard/agents/dev", deps);
  expect(body).toContain("&lt;/script>&lt;img src=x>");
  expect(body).toContain("\\u003c/script>\\u003cimg src=x>");
  expect(body).not.toContain("</script><img");
});

test.each(["/dashboard", "/dashboard/triggers", "/dashboard/cost", "/dashboard/agents/dev"])(
  "without the dashboard there is no %s",
  async (url) => expect((await get(url, testDeps({ dashboard: false }))).statusCode).toBe(404),
);

interface AgentAnswer {
  readonly facts: readonly { readonly label: string; readonly values: readonly string[] }[];
}

test("the dashboard's API describes an agent's schedule in words", async () => {
  const deps = testDeps();
  const config = anAgent("dev", { schedule: "0 9 * * 1" });
  const nextTicks = ["2026-11-23T09:00:00.000Z"];
  deps.operations.details.set("dev", { config, nextTicks });
  const response = await get("/dashboard/api/agents/dev", deps);
  const { facts, ...answer }: AgentAnswer = response.json();
  expect(answer).toEqual({
    config,
    failing: null,
    nextTicks,
    scheduleText: "At 09:00, only on Monday",
  });
  expect(facts).toContainEqual({ label: "Models", values: ["scripted"] });
});

test("an agent without a valid config is still found", async () => {
  const response = await get("/dashboard/api/agents/dev");
  expect(response.json()).toEqual({
    config: null,
    failing: null,
    nextTicks: [],
    scheduleText: null,
    facts: [],
  });
});

test("a log is downloaded whole, or one run of it, up to 5,000 lines", async () => {
  const deps = testDeps();
  for (let line = 0; line < 5_010; line++) {
    const instanceId = line % 100 === 0 ? "dev-aaaaaaaa" : "dev-bbbbbbbb";
    deps.logs.write({ agent: "dev", msg: `line ${line}`, instanceId });
  }
  const whole = await get("/dashboard/api/logs/dev/download", deps);
  expect(whole.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  expect(whole.headers["content-disposition"]).toBe('attachment; filename="dev.log.ndjson"');
  const lines = whole.body.trim().split("\n");
  expect(lines).toHaveLength(5_000);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "line 10", agent: "dev" });
  const one = await get("/dashboard/api/logs/dev/download?instance=dev-aaaaaaaa", deps);
  expect(one.body.trim().split("\n")).toHaveLength(51);
  const filter = "instance=dev-aaaaaaaa&q=LINE%20500&level=info";
  const found = await get(`/dashboard/api/logs/dev/download?${filter}`, deps);
  expect(
    found.body
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { msg: string }).msg),
  ).toEqual(["line 500", "line 5000"]);
  const none = await get("/dashboard/api/logs/dev/download?level=error", deps);
  expect(none.body).toBe("");
});
