import { describe, expect, test } from "vitest";
import { UserError } from "../../../../src/foundation/errors.ts";
import type { SearchQuery } from "../../../../src/foundation/contracts/search.ts";
import { bearer, startTcp, testDeps } from "../start-gateway.ts";

describe("GET /api/search", () => {
  test("passes the query on, with an order and a limit, and answers with the page", async () => {
    const asked: SearchQuery[] = [];
    const page = { runs: [], next: "2026-03-10.7", indexedUntil: null };
    const find = (query: SearchQuery) => (asked.push(query), Promise.resolve(page));
    const url = await startTcp(testDeps({ search: { find } }));
    const response = await fetch(`${url}/api/search?q=%22a+b%22+c*&kind=error&agent=dev`, {
      headers: bearer,
    });
    expect(await response.json()).toEqual(page);
    const expected = { q: '"a b" c*', kind: "error", agent: "dev", order: "newest", limit: 20 };
    expect(asked).toEqual([expected]);
  });

  test.each([
    ["bad_search", 400],
    ["bad_cursor", 400],
    ["search_unavailable", 503],
  ])("a search that is refused as %s is answered with %i and its reason", async (code, status) => {
    const find = () => Promise.reject(new UserError(code, "the search has no word"));
    const url = await startTcp(testDeps({ search: { find } }));
    const response = await fetch(`${url}/api/search?q=-`, { headers: bearer });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: code, detail: "the search has no word" });
  });

  test.each(["", "?q=a&limit=101", "?q=a&since=yesterday", "?q=a&kind=usage"])(
    "refuses a query that is no search: %j",
    async (query) => {
      const url = await startTcp(testDeps());
      const response = await fetch(`${url}/api/search${query}`, { headers: bearer });
      expect(response.status).toBe(400);
    },
  );

  test("needs a login or the key", async () => {
    const url = await startTcp(testDeps());
    expect((await fetch(`${url}/api/search?q=a`)).status).toBe(401);
  });
});
