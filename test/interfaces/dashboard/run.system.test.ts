import type { ReceiptView } from "../../../src/foundation/contracts/operator-api.ts";
import type { RunView } from "../../../src/interfaces/views/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const instance = "dev-abcdefgh";
const path = `/dashboard/agents/dev/runs/${instance}`;
const lastAt = "2026-11-22T12:00:00.000Z";

const receiptId = "01a205a9-9971-7362-9899-e0d7d3990aa2";
const receipt: ReceiptView = {
  receiptId,
  at: lastAt,
  source: "github",
  type: "github",
  deliveryId: "d1",
  headers: { "x-github-event": "issues" },
  matched: ["dev"],
  reason: null,
  bytes: 12,
  payload: { title: "<script>" },
  text: null,
};

function withRun(run: Partial<RunView> = {}) {
  const deps = testDeps();
  deps.operations.runs.set(instance, aRunView(instance, run));
  return deps;
}

test("the page of a run shows its trigger, result, usage, hosts and calls", async () => {
  const host = { port: 443, connections: 1, bytesOut: 512, bytesIn: 2048, lastAt };
  const deps = withRun({
    kind: "manual",
    prompt: "Look at <b>this</b>",
    scheduledFor: null,
    value: { ok: true },
    lastWords: "All **done**.\n\n# Next\n\n- rest",
    hosts: [
      { ...host, host: "evil.test", denied: "not_allowed" },
      { ...host, host: "good.test", denied: null },
    ],
    calls: {
      received: {
        callId: "c1",
        caller: "cat",
        callerInstance: "cat-aaaaaaaa",
        context: '{"issue":7}',
      },
      made: [historyEntry({ id: "2", agent: "owl", instanceId: "owl-aaaaaaaa" })],
    },
  });
  const { page, errors } = await open(path, deps);
  await expect.poll(() => page.locator("#state").innerText()).toBe("succeeded");
  expect(await page.locator("#trigger-words").innerText()).toMatch(/^(manual|hand)$/);
  expect(await page.locator("#trigger").innerText()).toContain("Look at <b>this</b>");
  expect(await page.locator("#trigger").innerText()).toContain('"issue": 7');
  expect(await page.locator("#result").innerText()).toContain('"ok": true');
  expect(await page.locator("#result strong").innerText()).toBe("done");
  expect(await page.locator("#facts").innerText()).toMatch(
    /Model\nhaiku\nTokens\n1,200\nCost\n\$0\.01 in 2 calls\nVersion\na{12}\nCommit\nc{12}\n/,
  );
  expect(await page.locator("#host-list").innerText()).toMatch(
    /evil\.test is not in \[network\]\.allow\s+good\.test 512 bytes out, 2\.0 KiB in/,
  );
  const [caller, called] = ["#called-by a", ".call-tree a"].map((at) => page.locator(at));
  expect(await caller?.getAttribute("href")).toBe("/dashboard/agents/cat/runs/cat-aaaaaaaa");
  expect(await called?.getAttribute("href")).toBe("/dashboard/agents/owl/runs/owl-aaaaaaaa");
  expect(await page.locator("#kill").isVisible()).toBe(false);
  expect(errors).toEqual([]);
});

test("the page of a run shows the stored delivery of a webhook, or that it was deleted", async () => {
  const deps = withRun({ kind: "webhook", event: "issues", action: "opened", receiptId });
  deps.operations.receipts.set(receiptId, receipt);
  const { page } = await open(path, deps);
  await expect.poll(() => page.locator("#trigger-words").innerText()).toBe("webhook issues opened");
  await expect.poll(() => page.locator("#trigger").innerText()).toContain('"title": "<script>"');
  deps.operations.receipts.clear();
  await page.reload();
  await expect
    .poll(() => page.locator("#trigger").innerText())
    .toContain("Its delivery is no longer stored.");
});

test("the page of a run shows the changes since its agent's last success, at once if it failed", async () => {
  const lastSuccess = { instanceId: "dev-aaaaaaaa", changed: true };
  const failing = {
    instanceId: instance,
    count: 1,
    since: "2026-11-20T06:33:00Z",
    changed: null,
    newest: false,
    lastSuccess: { instanceId: "dev-aaaaaaaa", at: "2026-11-20T06:26:00Z" },
  };
  const deps = withRun({ outcome: "failed", reason: "exit code 3", lastSuccess, failing });
  const version = { hash: "a", commit: null, dirty: null };
  deps.operations.differences.set(instance, {
    from: { instanceId: "dev-aaaaaaaa", version },
    to: { instanceId: instance, version },
    changed: true,
    text: "--- a\n+++ b\n-Say <b>hi</b>.\n+Say bye.\n",
  });
  const { page } = await open(path, deps);
  await expect.poll(() => page.locator("#since .removed").innerText()).toBe("-Say <b>hi</b>.");
  expect(deps.operations.calls).toContain(`runDifference ${instance} dev-aaaaaaaa`);
  expect(await page.locator("#failing").innerText()).toMatch(/^Had been failing since /);
  const links = await page.locator("#since a").all();
  expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual([
    "/dashboard/agents/dev/runs/dev-aaaaaaaa",
    `${path}/changes?to=dev-aaaaaaaa`,
  ]);
});

test("the page of a run ended by a person names the last success, and no failure", async () => {
  const lastSuccess = { instanceId: "dev-aaaaaaaa", changed: false };
  const { page } = await open(path, withRun({ outcome: "killed", lastSuccess }));
  await expect.poll(() => page.locator("#since").innerText()).toContain("It ran the same.");
  expect(await page.locator("#failing").count()).toBe(0);
});

test("the page of a run follows a run until it ends, and kills it after a question", async () => {
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
  // Of a run that is over nothing is read again, however busy its agent is.
  const reads = () => deps.operations.calls.filter((call) => call === `run ${instance}`).length;
  const before = reads();
  deps.operations.setAgent({ name: "dev", running: 1 });
  await page.waitForTimeout(1_500);
  expect(reads()).toBe(before);
});

test("the page of a run repeats a webhook's work: unchanged, or by hand with an edited payload", async () => {
  const deps = withRun({ id: "t1", kind: "webhook", event: "issues", receiptId });
  deps.operations.receipts.set(receiptId, { ...receipt, payload: { title: "old" } });
  const { page } = await open(path, deps);
  await page.getByRole("button", { name: "Run again" }).click();
  const field = page.getByRole("textbox", { name: "Payload" });
  await expect.poll(() => field.inputValue()).toBe('{\n  "title": "old"\n}');
  expect(await page.locator("#again-note").innerText()).toMatch(/^Unchanged: the stored delivery/);
  expect(deps.operations.calls.some((call) => /^(replay|trigger)/.test(call))).toBe(false);
  await page.getByRole("button", { name: "Replay" }).click();
  await expect.poll(() => deps.operations.calls).toContain("replayTrigger t1");
  await expect
    .poll(() => page.locator("#again-result").innerText())
    .toBe("Run again: started as dev-aaaaaaaa");

  await page.getByRole("button", { name: "Run again" }).click();
  await field.fill('{"title": "new"');
  await expect
    .poll(() => page.locator("#again-note").innerText())
    .toMatch(/^Edited: a manual run starts/);
  await page.locator("#again-dialog [type=submit]").click();
  await expect.poll(() => page.locator("#again-dialog").isVisible()).toBe(true);
  await field.fill('{"title": "new"}');
  await page.locator("#again-dialog [type=submit]").click();
  await expect
    .poll(() => deps.operations.calls.find((call) => call.startsWith("trigger ")))
    .toBe(
      "trigger dev Handle this payload of a delivery (webhook issues), which a person edited:\n\n" +
        '```\n{"title": "new"}\n```',
    );
  const link = page.locator("#again-result a");
  await expect
    .poll(() => link.getAttribute("href"))
    .toBe("/dashboard/agents/dev/runs/dev-abcdefgh");
});

test("the page of a run repeats a manual run with another prompt, and offers that for enabled agents only", async () => {
  const deps = withRun({ id: "t1", kind: "manual", prompt: "Look\r\nhere" });
  const { page } = await open(path, deps);
  await page.getByRole("button", { name: "Run again" }).click();
  await expect.poll(() => page.locator("#again-note").innerText()).toMatch(/^Unchanged/);
  await page.getByLabel("Prompt").fill("Look there");
  await page.locator("#again-dialog [type=submit]").click();
  await expect.poll(() => deps.operations.calls).toContain("trigger dev Look there");
  deps.operations.setAgent({ name: "dev", enabled: false });
  const button = page.getByRole("button", { name: "Run again" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
});

test("the page of a run without a word or a log line is not empty", async () => {
  const { page } = await open(path, withRun({ outcome: "failed", reason: "exit code 3" }));
  await expect.poll(() => page.locator("#reason").innerText()).toBe("exit code 3");
  expect(await page.locator("#result-note").innerText()).toBe(
    "It returned nothing and said nothing.",
  );
  await expect.poll(() => page.locator("#log-empty").innerText()).toContain("No lines");
});

test("the page of a run opens under another agent's address too, and reports an unknown run", async () => {
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
