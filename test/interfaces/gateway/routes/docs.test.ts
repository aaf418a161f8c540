import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { bearer, logIn, testDeps } from "../start-gateway.ts";

async function tcp(dashboard: boolean) {
  const app = await tcpApp(testDeps({ dashboard }));
  onTestFinished(() => app.close());
  return app;
}

test("the page tells every route with its parameters, answers and refusals", async () => {
  const { body } = await (await tcp(true)).inject({ url: "/docs", headers: bearer });
  expect(body).toContain("<b>POST</b> /api/webhooks/{receiptId}/replay");
  expect(body).toContain("Needs no key.");
  expect(body).toContain("Needs the key or a session.");
  expect(body).toMatch(/Refusals:\s+400 Bad Request, 401 Unauthorized/);
  expect(body).toContain("{ success: true, paused: boolean }");
  expect(body).not.toContain("[object Object]");
});

test("the page runs and loads nothing but its own style, by its nonce", async () => {
  const { headers, body } = await (await tcp(true)).inject({ url: "/docs", headers: bearer });
  const nonce = /style-src 'nonce-([^']+)'/.exec(String(headers["content-security-policy"]))?.[1];
  expect(body).toContain(`<style nonce="${nonce ?? "none"}">`);
  expect(body).not.toMatch(/<script|<link rel="stylesheet"|src="http|@import/);
});

test("with the dashboard it takes a login, as every page does", async () => {
  const app = await tcp(true);
  const html = { accept: "text/html" };
  const visit = await app.inject({ url: "/docs", headers: html });
  expect(visit.headers.location).toBe("/login?next=%2Fdocs");
  const cookie = await logIn(app);
  expect((await app.inject({ url: "/docs", headers: { ...html, cookie } })).statusCode).toBe(200);
  expect((await app.inject({ url: "/openapi.json" })).statusCode).toBe(401);
  expect((await app.inject({ url: "/openapi.json", headers: { cookie } })).statusCode).toBe(200);
});

test("without the dashboard it is open, and only to known names", async () => {
  const app = await tcp(false);
  expect((await app.inject({ url: "/docs" })).statusCode).toBe(200);
  expect((await app.inject({ url: "/openapi.json" })).statusCode).toBe(200);
  const host = "evil.example";
  expect((await app.inject({ url: "/docs", headers: { host } })).statusCode).toBe(403);
});
