import type { RunDifference } from "../../../src/interfaces/views/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { sharedBrowser } from "./open-page.ts";
import { withDetail } from "./with-detail.ts";

const open = sharedBrowser();
const [first, second] = ["a".repeat(32), "b".repeat(32)];

const difference: RunDifference = {
  from: { instanceId: "dev-bbbbbbbb", version: { hash: first, commit: null, dirty: null } },
  to: {
    instanceId: "dev-cccccccc",
    version: { hash: second, commit: "c".repeat(40), dirty: true },
  },
  changed: true,
  text: "--- dev-bbbbbbbb/SKILL.md\n+++ dev-cccccccc/SKILL.md\n@@ -1,1 +1,1 @@\n-Say <b>hi</b>.\n+Say bye.\n",
};

function withRuns() {
  const deps = withDetail();
  const at = (ago: number): string => new Date(Date.now() - ago * 1000).toISOString();
  const run = (letter: string, ago: number, version: string | null) =>
    historyEntry({ id: letter, at: at(ago), instanceId: `dev-${letter.repeat(8)}`, version });
  const queued = { startedAt: null, instanceId: null, outcome: null, version: null } as const;
  deps.operations.entries.push(
    run("e", 500, null),
    run("a", 400, first),
    run("b", 300, first),
    run("c", 200, second),
    run("d", 100, second),
    historyEntry({ id: "q", at: at(10), ...queued }),
  );
  deps.operations.differences.set("dev-cccccccc", difference);
  return deps;
}

test("a run with another version than the one before is marked, and links to the changes", async () => {
  const { page, deps, url, errors } = await open("/dashboard/agents/dev", withRuns());
  await expect.poll(() => page.locator("#run-rows tr").count()).toBe(6);
  const marks = page.locator(".change-mark:visible");
  expect(await marks.count()).toBe(1);
  expect(await marks.first().getAttribute("title")).toBe(
    "Config or instructions changed since the run before it, dev-bbbbbbbb. Shows what changed.",
  );
  await page.getByRole("link", { name: "What changed before the run dev-cccccccc" }).click();
  await page.waitForURL(`${url}/dashboard/agents/dev/runs/dev-cccccccc/changes?to=dev-bbbbbbbb`);
  expect(deps.operations.calls).toContain("runDifference dev-cccccccc dev-bbbbbbbb");
  expect(await page.locator(".changes .removed").innerText()).toBe("-Say <b>hi</b>.");
  expect(await page.locator(".changes .added").innerText()).toBe("+Say bye.");
  expect(await page.locator(".compared").innerText()).toMatch(
    /dev-cccccccc\s+bbbbbbbbbbbb\s+cccccccccccc with changes that were not committed/,
  );
  expect(errors).toEqual([]);
});

test("two runs of one version show no change, and a deleted run has no page", async () => {
  const deps = withRuns();
  deps.operations.differences.set("dev-dddddddd", { ...difference, changed: false, text: "" });
  const { page, url } = await open("/dashboard/agents/dev/runs/dev-dddddddd/changes", deps);
  expect(await page.locator("#same").innerText()).toContain("the same config");
  expect(await page.locator(".changes").count()).toBe(0);
  const gone = await page.goto(`${url}/dashboard/agents/dev/runs/dev-zzzzzzzz/changes`);
  expect(gone?.status()).toBe(404);
  expect(await page.locator("h1").innerText()).toBe("Nothing here");
});
