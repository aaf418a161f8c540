import { questionStates } from "../../../../src/foundation/contracts/question-kinds.ts";
import { outcomes } from "../../../../streams/outcomes.ts";
import { openApp } from "../start-gateway.ts";

test.each([
  ["", "hello"],
  ["/triggers", "Triggers · hello"],
  ["/agents/dev", "dev · hello"],
  ["/agents/scheduler/logs", "scheduler · log · hello"],
])("/dashboard%s is a page that only its browser caches, and revalidates", async (path, title) => {
  const { headers, body } = await (await openApp()).get(`/dashboard${path}`);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, no-cache",
  });
  expect(body).toContain(`<title>${title} · Almanac</title>`);
});

test("a page that the browser has is not sent again until it changes", async () => {
  const { get, operations } = await openApp();
  const first = await get("/dashboard");
  const headers = { "if-none-match": `"other", ${String(first.headers.etag)}` };
  const again = await get("/dashboard", { headers });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  const kept = ["etag", "content-security-policy"].map((name) => [name, first.headers[name]]);
  expect(again.headers).toMatchObject({ ...Object.fromEntries(kept), vary: "accept-encoding" });
  operations.setAgent({ name: "dev", state: "running" });
  const changed = await get("/dashboard", { headers });
  expect(changed.statusCode).toBe(200);
  expect(changed.headers.etag).not.toBe(first.headers.etag);
});

test("the page of words explains each outcome, and each state of a question", async () => {
  const { body } = await (await openApp()).get("/dashboard/words");
  for (const word of [...outcomes, ...questionStates]) expect(body).toContain(`>${word}</code>`);
});

test.each([
  "agents/nobody",
  "agents/scheduler",
  "agents/..%2f..",
  "api/agents/nobody",
  "api/logs/nobody/download",
])("/dashboard/%s is not found", async (path) => {
  const response = await (await openApp()).get(`/dashboard/${path}`);
  expect(response.json()).toMatchObject({ status: 404, error: "unknown_agent" });
});

test("a page escapes an agent's text, also in its data", async () => {
  const { get, operations } = await openApp();
  operations.setAgent({ name: "dev", description: "</script><img src=x>" });
  const { body } = await get("/dashboard/agents/dev");
  expect(body).toContain("&lt;/script>&lt;img src=x>");
  expect(body).toContain("\\u003c/script>\\u003cimg src=x>");
  expect(body).not.toContain("</script><img");
});

test("a log is downloaded whole, or filtered, up to 5,000 lines", async () => {
  const { get, deps } = await openApp();
  for (let line = 0; line < 5_010; line++) {
    const instanceId = line % 100 === 0 ? "dev-aaaaaaaa" : "dev-bbbbbbbb";
    deps.logs.write({ agent: "dev", msg: `line ${line}`, instanceId });
  }
  const download = async (query: string) => {
    const { body, headers } = await get(`/dashboard/api/logs/dev/download${query}`);
    const lines = body.split("\n").filter((line) => line !== "");
    return { headers, lines: lines.map((line) => (JSON.parse(line) as { msg: string }).msg) };
  };
  const { headers, lines } = await download("");
  expect(headers).toMatchObject({
    "content-type": "application/x-ndjson; charset=utf-8",
    "content-disposition": 'attachment; filename="dev.log.ndjson"',
  });
  expect([lines.length, lines[0]]).toEqual([5_000, "line 10"]);
  const found = await download("?instance=dev-aaaaaaaa&q=LINE%20500&level=info");
  expect(found.lines).toEqual(["line 500", "line 5000"]);
});
