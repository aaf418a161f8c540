import { pause } from "../../../../helpers/pause.ts";
import type { ReceiptView } from "../../../../../src/foundation/contracts/operator-api.ts";
import type { RunView } from "../../../../../src/runtime/runs/run-view.ts";
import { aRunView } from "../../../../helpers/run-view.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";

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

test("the page of a run follows a run until it ends, and kills it after a question", async () => {
  const ongoing = { outcome: null, endedAt: null, durationMs: null, costUsd: null } as const;
  const deps = withRun(ongoing);
  deps.logs.write({ agent: "dev", instanceId: instance, msg: "first line" });
  deps.logs.write({ agent: "dev", instanceId: "dev-zzzzzzzz", msg: "of another run" });
  const { shows, press, called } = await open(path, deps);
  await shows({ "#state": "running", "#log .line": 1 });
  deps.logs.write({ agent: "dev", instanceId: instance, msg: "second line" });
  await shows({ "#log": /second line/ });
  await press(`Kill the run ${instance}`);
  expect(deps.operations.calls).not.toContain(`killInstance ${instance}`);
  await press("Really kill it?");
  await called(`killInstance ${instance}`);

  const killed = { ...ongoing, outcome: "killed", reason: "by a person", durationMs: 65_000 };
  deps.operations.runs.set(instance, aRunView(instance, { ...killed, outcome: "killed" }));
  deps.operations.setAgent({ name: "dev", running: 0 });
  await shows({
    "#state": "killed",
    "#standing": "1 min 05 s",
    "#reason": "The run was killed: by a person",
    "#kill": false,
  });
  // Of a run that is over nothing is read again, however busy its agent is.
  const reads = () => deps.operations.calls.filter((call) => call === `run ${instance}`).length;
  const before = reads();
  deps.operations.setAgent({ name: "dev", running: 1 });
  await pause(1_500, "a run that is over must not be read again");
  expect(reads()).toBe(before);
});

test("the page of a run repeats a webhook's work: unchanged, or by hand with an edited payload", async () => {
  const deps = withRun({ id: "t1", kind: "webhook", event: "issues", receiptId });
  deps.operations.receipts.set(receiptId, { ...receipt, payload: { title: "old" } });
  const { page, shows, press, called } = await open(path, deps);
  await press("Run again");
  const field = page.getByRole("textbox", { name: "Payload" });
  await expect.poll(() => field.inputValue()).toBe('{\n  "title": "old"\n}');
  await shows({ "#again-note": /^Unchanged: the stored delivery/ });
  expect(deps.operations.calls.some((call) => /^(replay|trigger)/.test(call))).toBe(false);
  await press("Replay");
  await called("replayTrigger t1");
  await shows({ "#again-result": "Run again: started as dev-aaaaaaaa" });

  await press("Run again");
  await field.fill('{"title": "new"');
  await shows({ "#again-note": /^Edited: a manual run starts/ });
  await page.locator("#again-dialog [type=submit]").click();
  await shows({ "#again-dialog": true });
  await field.fill('{"title": "new"}');
  await page.locator("#again-dialog [type=submit]").click();
  await expect
    .poll(() => deps.operations.calls.find((call) => call.startsWith("trigger ")))
    .toBe(
      "trigger dev Handle this payload of a delivery (webhook issues), which a person edited:\n\n" +
        '```\n{"title": "new"}\n```',
    );
  await shows({ "#again-result a@href": "/dashboard/agents/dev/runs/dev-abcdefgh" });
});

test("the page of a run repeats a manual run with another prompt, and offers that for enabled agents only", async () => {
  const deps = withRun({ id: "t1", kind: "manual", prompt: "Look\r\nhere" });
  const { page, shows, press, called } = await open(path, deps);
  await press("Run again");
  await shows({ "#again-note": /^Unchanged/ });
  await page.getByLabel("Prompt").fill("Look there");
  await page.locator("#again-dialog [type=submit]").click();
  await called("trigger dev Look there");
  deps.operations.setAgent({ name: "dev", enabled: false });
  const button = page.getByRole("button", { name: "Run again" });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
});

test("the page of a run opens under another agent's address too, and reports an unknown run", async () => {
  const { page, url, shows } = await open(path, withRun());
  await page.goto(`${url}/dashboard/agents/cat/runs/${instance}`);
  await expect.poll(() => page.url()).toBe(url + path);
  const gone = await page.goto(`${url}/dashboard/agents/dev/runs/dev-zzzzzzzz`);
  expect(gone?.status()).toBe(404);
  await shows({
    h1: "No such run",
    "main a >> nth=0@href": "/dashboard/agents/dev/logs?instance=dev-zzzzzzzz",
  });
  const noName = await page.goto(`${url}/dashboard/agents/dev/runs/..%2f..`);
  expect(noName?.status()).toBe(404);
});
