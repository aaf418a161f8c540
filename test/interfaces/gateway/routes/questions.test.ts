import { aQuestionView } from "../../../helpers/fake-questions.ts";
import { openApp } from "../start-gateway.ts";

const url = `/api/questions/${aQuestionView().id}/answer`;

async function withQuestion() {
  const { app, operations, get, post } = await openApp();
  operations.asked.push(aQuestionView());
  const answer = (body: object, path = url) => post(path, { payload: body });
  return { app, asked: operations.asked, get, answer };
}

test("the questions API lists the open questions", async () => {
  const { get, asked } = await withQuestion();
  asked.push(aQuestionView({ id: "old", state: "expired" }));
  const response = await get("/api/questions?state=open");
  expect(response.json()).toEqual({ questions: [aQuestionView()], next: null });
});

test("the questions API shows one question, and answers 404 for an unknown one", async () => {
  const { get } = await withQuestion();
  expect((await get(`/api/questions/${aQuestionView().id}`)).json()).toEqual(aQuestionView());
  expect((await get("/api/questions/none")).statusCode).toBe(404);
});

test("the questions API takes the first answer, and answers the second person with who was first", async () => {
  const { answer } = await withQuestion();
  const first = await answer({ answer: "Yes" });
  expect(first.statusCode).toBe(200);
  expect(first.json()).toMatchObject({ state: "answered", answer: "yes", by: { via: "key" } });
  const second = await answer({ answer: "no" });
  expect(second.statusCode).toBe(409);
  expect(second.json()).toMatchObject({ error: "answered" });
});

test.each([
  [{ answer: "maybe" }, 400],
  [{}, 400],
  [{ answer: { yes: true } }, 400],
])("the questions API rejects the answer %j with %i", async (body, status) => {
  const { answer } = await withQuestion();
  expect((await answer(body)).statusCode).toBe(status);
});

test("the questions API answers 404 for an unknown question", async () => {
  const { answer } = await withQuestion();
  expect((await answer({ answer: "yes" }, "/api/questions/none/answer")).statusCode).toBe(404);
});

test("the questions API needs the key", async () => {
  const { app } = await withQuestion();
  const response = await app.inject({ method: "POST", url, payload: { answer: "yes" } });
  expect(response.statusCode).toBe(401);
});
