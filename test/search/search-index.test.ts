import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SearchPage, SearchQuery } from "../../src/contracts/search.ts";
import { searchLogs } from "../../src/search/search-logs.ts";
import { dayMs, logProject, noon } from "./support.ts";

let project: ReturnType<typeof logProject>;
beforeEach(() => (project = logProject()));
afterEach(() => project.remove());

function find(q: string, more: Partial<SearchQuery> = {}): Promise<SearchPage> {
  const query: SearchQuery = { q, order: "newest", limit: 20 };
  return searchLogs({ projectDir: project.projectDir }, Object.assign(query, more));
}
const textsOf = ({ runs }: SearchPage): string[] =>
  runs.flatMap(({ matches }) => matches.map(({ text }) => text));

describe("the search over all logs", () => {
  test("finds lines by words, phrases and beginnings, newest first, with their runs", async () => {
    project.write({ msg: "deploy of web failed", instanceId: "alpha-aaaaaaaa", kind: "said" });
    project.write({ msg: "web deploy is done", instanceId: "alpha-bbbbbbbb", time: noon + 1 });
    project.write({ msg: "deployment", agent: "beta", time: noon - dayMs });
    await project.index();
    expect(textsOf(await find("deploy web"))).toEqual([
      "web deploy is done",
      "deploy of web failed",
    ]);
    expect(textsOf(await find('"deploy of"'))).toEqual(["deploy of web failed"]);
    expect(textsOf(await find("DEPLOY*"))).toHaveLength(3);
    expect(textsOf(await find("deploy*", { order: "oldest" }))[0]).toBe("deployment");
    expect((await find("failed")).runs).toMatchObject([
      { agent: "alpha", instanceId: "alpha-aaaaaaaa", count: 1, matches: [{ ranges: [[14, 20]] }] },
    ]);
    expect(textsOf(await find("deploy", { agent: "beta" }))).toEqual([]);
    expect(textsOf(await find("deployment", { agent: "beta" }))).toEqual(["deployment"]);
    expect((await find("deploy")).indexedUntil).not.toBeNull();
  });

  test("pages name each run once, and all of them", async () => {
    for (let i = 0; i < 40; i++) {
      const instanceId = `alpha-aaaaaa${String(i % 10).padStart(2, "a")}`;
      project.write({ msg: `common ${i}`, instanceId, time: noon + i });
    }
    await project.index(500);
    for (const order of ["newest", "oldest"] as const) {
      const seen: (string | null)[] = [];
      let before: string | undefined;
      for (let pages = 0; pages < 9; pages++) {
        const more = before === undefined ? {} : { before };
        const page = await find("common", Object.assign(more, { order, limit: 3 }));
        seen.push(...page.runs.map(({ instanceId }) => instanceId));
        expect(page.runs.every(({ count }) => count === 4)).toBe(true);
        if (page.next === null) break;
        before = page.next;
      }
      expect(seen).toHaveLength(10);
      expect(new Set(seen).size).toBe(10);
    }
  });
});
