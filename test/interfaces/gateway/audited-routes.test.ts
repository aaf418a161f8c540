import { apiKey, logIn, openApp } from "./start-gateway.ts";

describe("the audit trail", () => {
  test("records the login, acts and logout of a browser with its address", async () => {
    const { app, operations } = await openApp();
    const headers = { cookie: await logIn(app), host: "localhost", origin: "http://localhost" };
    for (const url of ["/control/pause", "/logout", "/logout"])
      await app.inject({ method: "POST", url, headers });
    await app.inject({ method: "POST", url: "/login", payload: { key: `${apiKey}?` } });
    const by = { via: "login", name: "", from: "127.0.0.1" };
    const acts = ["logout", "pause", "login"].map((act) => ({ act, by }));
    expect(operations.acts).toMatchObject(acts);
  });

  test("records an act by an API token with its name", async () => {
    const { app, deps, operations } = await openApp();
    const { token } = await deps.context.tokens.create({
      name: "claude",
      scopes: ["control"],
      days: 1,
    });
    const headers = { authorization: `Bearer ${token}` };
    await app.inject({ method: "POST", url: "/control/pause", headers });
    expect(operations.acts).toMatchObject([{ act: "pause", by: { via: "token", name: "claude" } }]);
  });

  test("is read page by page", async () => {
    const { get, post } = await openApp();
    for (const word of ["pause", "resume", "pause"]) await post(`/control/${word}`);
    const first = (await get("/api/audit?limit=2")).json<{ entries: object[]; next: number }>();
    expect(first.entries).toMatchObject([{ act: "pause" }, { act: "resume" }]);
    const second = (await get(`/api/audit?limit=2&before=${first.next}`)).json<object>();
    expect(second).toMatchObject({ entries: [{ act: "pause" }], next: null });
  });
});
