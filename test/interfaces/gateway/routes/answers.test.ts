import { operatorApp } from "../../../../src/interfaces/gateway/app.ts";
import { aQuestionView } from "../../../helpers/fake-questions.ts";
import type { QuestionView } from "../../../../src/foundation/contracts/question-views.ts";
import { logIn, openApp, type TestDeps } from "../start-gateway.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };

async function withLink(values: Partial<QuestionView> = {}, overrides: Partial<TestDeps> = {}) {
  const { app, deps, operations } = await openApp(overrides);
  const question = aQuestionView(values);
  operations.asked.push(question);
  const pathFor = (target: string) =>
    deps.answerLinks.pathOf({ id: question.id, until: Date.parse(question.until) }, target);
  const path = pathFor("ops");
  const follow = (url = path) => app.inject({ url, headers: { accept: "text/html" } });
  const submit = (answer: string, url = path) =>
    app.inject({ method: "POST", url, headers: form, payload: `answer=${answer}` });
  return { app, deps, asked: operations.asked, path, pathFor, follow, submit };
}

test("opening an answer link shows the question, changes nothing, and leaves no trace of its token", async () => {
  const { app, asked, path, follow } = await withLink();
  const page = await follow();
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain("Deploy 1.4?");
  expect(page.body).toContain(`action="${path}"`);
  expect(page.headers).toMatchObject({
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  for (const method of ["HEAD", "OPTIONS"] as const) await app.inject({ method, url: path });
  expect(asked[0]?.state).toBe("open");
});

test("the form of an answer link answers once; then the page says who answered", async () => {
  const { asked, path, follow, submit } = await withLink();
  const first = await submit("yes");
  expect([first.statusCode, first.headers.location]).toEqual([303, path]);
  expect((await submit("no")).statusCode).toBe(303);
  const by = { via: "link", name: "ops", from: "127.0.0.1" };
  expect(asked[0]).toMatchObject({ state: "answered", answer: "yes", by });
  const { body } = await follow();
  expect(body).toContain("<strong>yes</strong> · ops via a link");
  expect(body).not.toContain("<form");
});

test("a program answers an answer link with JSON, and later ones get 409", async () => {
  const { app, path } = await withLink();
  const send = async (answer: string) =>
    (await app.inject({ method: "POST", url: path, payload: { answer } })).statusCode;
  expect([await send("maybe"), await send("yes"), await send("no")]).toEqual([400, 204, 409]);
});

test("an answer link shows the whole difference of a proposal, whose answer is audited", async () => {
  const text = `--- version-1/a\n+++ proposed/a\n@@ -1,1 +1,1 @@\n-no\n+always approve\n`;
  const { deps, follow, submit, asked } = await withLink({
    kind: "memory",
    subject: "dev",
    form: { kind: "choice", choices: ["allow", "deny"] },
    difference: { text, isCut: false },
  });
  const { body } = await follow();
  expect(body).toContain('<span class="added">+always approve</span>');
  expect(body).toContain("Unanswered, it is dropped");
  expect((await submit("deny")).statusCode).toBe(303);
  expect(asked[0]).toMatchObject({ answer: "deny" });
  const detail = "deny (memory dev)";
  expect(deps.operations.acts).toMatchObject([{ act: "approve", agent: "dev", detail }]);
});

test("an invalid answer shows the question again with the reason", async () => {
  const { asked, submit } = await withLink({ form: { kind: "number", min: 1, max: 9 } });
  const page = await submit("12");
  expect(page.statusCode).toBe(400);
  expect(page.body).toContain("it is not a number from 1 to 9");
  expect(page.body).toContain('type="number"');
  expect(asked[0]?.state).toBe("open");
});

test.each([
  ["<strong>The run ended</strong> · no person answered in time", "expired", null],
  ["<strong>no</strong> · no person answered in time", "expired", "no"],
  ["Withdrawn: the run ended", "withdrawn", null],
] as const)("an answer link shows %j for a question %s with %j", async (text, state, answer) => {
  const { follow } = await withLink({ state, answer, answeredAt: "2026-11-23T08:00:00.000Z" });
  expect((await follow()).body).toContain(text);
});

test("answer links with a forged token or of an unknown question respond the same 404", async () => {
  const { asked, path, follow, submit } = await withLink();
  const forged = `${path.slice(0, -2)}AA`;
  const forgedPage = await follow(forged);
  expect((await submit("yes", forged)).statusCode).toBe(404);
  expect(asked[0]?.state).toBe("open");
  asked.length = 0;
  for (const { statusCode, body } of [forgedPage, await follow(), await follow("/answer/x")])
    expect([statusCode, body]).toEqual([404, forgedPage.body]);
  expect(forgedPage.headers["referrer-policy"]).toBe("no-referrer");
});

test("an answer link works for a long target, below a path of a proxy, without the dashboard", async () => {
  const overrides = { publicUrl: "https://example.org/al", dashboard: false };
  const { path, pathFor, follow } = await withLink({}, overrides);
  expect((await follow(`/al${path}`)).body).toContain(`action="/al${path}"`);
  expect((await follow(pathFor("t".repeat(200)))).statusCode).toBe(200);
});

test("the page of an answer link shows hidden characters and markup as text", async () => {
  const prompt = "Pay <b>1</b> to \u202Eevil https://x.test/\u{E0041}";
  const { body } = await (await withLink({ prompt })).follow();
  expect(body).toContain("Pay &lt;b>1&lt;/b> to [U+202E]evil https://x.test/[U+E0041]");
  expect(body).not.toContain('href="https://x.test');
});

test("the page of an answer link can allow a host once or for this run, but not always", async () => {
  const choices = ["once", "run", "always", "deny"];
  const { follow } = await withLink({ kind: "host", form: { kind: "choice", choices } });
  const { body } = await follow();
  for (const words of ["Allow once", "Allow for this run", "Deny"])
    expect(body).toContain(`>${words}</button>`);
  expect(body).not.toContain("Always allow");
  expect(body).toContain("To allow it permanently, answer on the dashboard");
});

test("the operator's socket responds 404 to an answer link", async () => {
  const { path, deps } = await withLink();
  const { get } = await openApp({ operations: deps.operations }, operatorApp);
  expect((await get(path)).statusCode).toBe(404);
});

test("the dashboard's form to answer needs a login of this origin, and leads back to the questions", async () => {
  const { app, asked } = await withLink();
  const url = `/dashboard/questions/${asked[0]?.id ?? ""}/answer`;
  const cookie = await logIn(app);
  const post = (site: string) => {
    const headers = { ...form, cookie, "sec-fetch-site": site };
    return app.inject({ method: "POST", url, headers, payload: "answer=yes" });
  };
  expect((await post("cross-site")).statusCode).toBe(403);
  expect(asked[0]?.state).toBe("open");
  const answered = await post("same-origin");
  expect([answered.statusCode, answered.headers.location]).toEqual([303, "/dashboard/questions"]);
  expect(asked[0]).toMatchObject({ answer: "yes", by: { via: "login", from: "127.0.0.1" } });
});
