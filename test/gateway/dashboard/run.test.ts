import { describe, expect, test } from "vitest";
import type { RunView } from "../../../src/contracts/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { testDeps } from "../start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const instance = "dev-abcdefgh";
const path = `/dashboard/agents/dev/runs/${instance}`;
const lastAt = "2026-11-22T12:00:00.000Z";

function withRun(run: Partial<RunView> = {}) {
  const deps = testDeps();
  deps.operations.runs.set(instance, aRunView(instance, run));
  return deps;
}

describe("the page of a run", () => {
  test("shows what started it, what came of it, what it used and reached, and whom it called", async () => {
    const host = { port: 443, connections: 1, bytesOut: 512, bytesIn: 2048, lastAt };
    const deps = withRun({
      ...{ kind: "manual", prompt: "Look at <b>this</b>", scheduledFor: null },
      ...{ value: { ok: true }, lastWords: "All **done**.\n\n# Next\n\n- rest" },
      hosts: [
        { ...host, host: "evil.test", denied: "not_allowed" },
        { ...host, host: "good.test", denied: null },
      ],
      calls: {
        received: {
          ...{ callId: "c1", caller: "cat", callerInstance: "cat-aaaaaaaa" },
          context: '{"issue":7}',
        },
        made: [historyEntry({ id: "2", agent: "owl", instanceId: "owl-aaaaaaaa" })],
      },
    });
    const { page, errors } = await open(path, deps);
    await expect.poll(() => page.locator("#state").innerText()).toBe("succeeded");
    expect(await page.locator("#trigger-words").innerText()).toMatch(/^(manual|hand)$/);
    expect(await page.locator("#asked").innerText()).toContain("Look at <b>this</b>");
    expect(await page.locator("#asked").innerText()).toContain('"issue": 7');
    expect(await page.locator("#value").innerText()).toContain('"ok": true');
    expect(await page.locator("#last-words strong").innerText()).toBe("done");
    expect(await page.locator("#facts").innerText()).toMatch(
      /Model\nhaiku\nTokens\n1,200\nCost\n\$0\.01 in 2 calls\nVersion\na{12}\nCommit\nc{12}\n/,
    );
    expect(await page.locator("#host-list").innerText()).toMatch(
      /evil\.test is not in \[network\]\.allow\s+good\.test 512 bytes out, 2\.0 KiB in/,
    );
    const [caller, called] = ["#called-by a", "#calls-made a"].map((at) => page.locator(at));
    expect(await caller?.getAttribute("href")).toBe("/dashboard/agents/cat/runs/cat-aaaaaaaa");
    expect(await called?.getAttribute("href")).toBe("/dashboard/agents/owl/runs/owl-aaaaaaaa");
    expect(await page.locator("#kill").isVisible()).toBe(false);
    expect(errors).toEqual([]);
  });

  test("shows the stored delivery of a webhook, or that it is no longer there", async () => {
    const deps = withRun({ kind: "webhook", event: "issues", action: "opened", receiptId: "r1" });
    deps.operations.receipts.set("r1", {
      ...{ receiptId: "r1", at: lastAt, source: "github", type: "github", deliveryId: "d1" },
      ...{ headers: { "x-github-event": "issues" }, matched: ["dev"], reason: null },
      ...{ bytes: 12, payload: { title: "<script>" }, text: null },
    });
    const { page } = await open(path, deps);
    await expect
      .poll(() => page.locator("#trigger-words").innerText())
      .toBe("webhook issues opened");
    deps.operations.receipts.clear();
    await page.reload();
    await expect
      .poll(() => page.locator("#asked").innerText())
      .toContain("Its delivery is no longer stored.");
  });

  test("shows what changed since its agent's last success, at once when it failed", async () => {
    const lastSuccess = { instanceId: "dev-aaaaaaaa", changed: true };
    const deps = withRun({ outcome: "failed", reason: "exit code 3", lastSuccess });
    const version = { hash: "a", commit: null, dirty: null };
    deps.operations.differences.set(instance, {
      from: { instanceId: "dev-aaaaaaaa", version },
      to: { instanceId: instance, version },
      ...{ changed: true, text: "--- a\n+++ b\n-Say <b>hi</b>.\n+Say bye.\n" },
    });
    const { page } = await open(path, deps);
    await expect.poll(() => page.locator("#since .removed").innerText()).toBe("-Say <b>hi</b>.");
    expect(deps.operations.calls).toContain(`runDifference ${instance} dev-aaaaaaaa`);
    const links = await page.locator("#since a").all();
    expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual([
      "/dashboard/agents/dev/runs/dev-aaaaaaaa",
      `${path}/changes?to=dev-aaaaaaaa`,
    ]);
  });

  test("follows a run until it ends, and kills it after a question", async () => {
    const ongoing = { outcome: null, endedAt: null, durationMs: null, costUsd: null } as const;
    const deps = withRun(ongoing);
    deps.logs.write({ agent: "dev", instanceId: instance, msg: "first line" });
    deps.logs.write({ agent: "dev", instanceId: "dev-zzzzzzzz", msg: "of another run" });
    const { page } = await open(path, deps);
    await expect.poll(() => page.locator("#state").innerText()).toBe("running");
    await expect.poll(() => page.locator("#log .line").count()).toBe(1);
    deps.logs.write({ agent: "dev", instanceId: instance, msg: "second line" });
    await expect.poll(() => page.locator("#log").innerText()).toContain("second line");
    await page.getByRole("button", { name: `Kill the run ${instance}` }).click();
    expect(deps.operations.calls).not.toContain(`killInstance ${instance}`);
    await page.getByRole("button", { name: "Really kill it?" }).click();
    await expect.poll(() => deps.operations.calls).toContain(`killInstance ${instance}`);

    const killed = { ...ongoing, outcome: "killed", reason: "by a person", durationMs: 65_000 };
    deps.operations.runs.set(instance, aRunView(instance, { ...killed, outcome: "killed" }));
    deps.operations.setAgent({ name: "dev", running: 0 });
    await expect.poll(() => page.locator("#state").innerText()).toBe("killed");
    expect(await page.locator("#standing").innerText()).toBe("1 min 05 s");
    expect(await page.locator("#reason").innerText()).toBe("The run was killed: by a person");
    expect(await page.locator("#kill").isVisible()).toBe(false);
  });

  test("of a run that said nothing and logged nothing is not empty", async () => {
    const { page } = await open(path, withRun({ outcome: "failed", reason: "exit code 3" }));
    await expect.poll(() => page.locator("#reason").innerText()).toBe("exit code 3");
    expect(await page.locator("#result-note").innerText()).toBe(
      "It returned nothing and said nothing.",
    );
    await expect.poll(() => page.locator("#log-empty").innerText()).toContain("No lines");
  });

  test("is found under another agent's address, too; of a run that is not there it says so", async () => {
    const { page, url } = await open(path, withRun());
    await page.goto(`${url}/dashboard/agents/cat/runs/${instance}`);
    expect(page.url()).toBe(url + path);
    const gone = await page.goto(`${url}/dashboard/agents/dev/runs/dev-zzzzzzzz`);
    expect(gone?.status()).toBe(404);
    expect(await page.locator("h1").innerText()).toBe("No such run");
    expect(await page.locator("main a").first().getAttribute("href")).toBe(
      "/dashboard/agents/dev/logs?instance=dev-zzzzzzzz",
    );
    const noName = await page.goto(`${url}/dashboard/agents/dev/runs/..%2f..`);
    expect(noName?.status()).toBe(404);
  });
});
