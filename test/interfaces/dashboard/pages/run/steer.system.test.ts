import type { InboxView, RunView } from "../../../../../src/runtime/runs/run-view.ts";
import { aRunView } from "../../../../helpers/run-view.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();
const instance = "dev-abcdefgh";
const path = `/dashboard/agents/dev/runs/${instance}`;
const message: InboxView = {
  seq: 1,
  kind: "steer",
  text: "Be <b>brief</b>.",
  receivedAt: null,
  continuedBy: null,
  at: "2026-11-22T12:00:00.000Z",
  by: { via: "key", name: "", from: null },
};

async function pageOf(run: Partial<RunView>) {
  const deps = testDeps();
  deps.operations.runs.set(instance, aRunView(instance, run));
  const opened = await open(path, deps);
  await untilLive(opened.page);
  return opened;
}

const running = { outcome: null, endedAt: null, durationMs: null, exitCode: null } as const;

test("a person sends a run a message, and stops it after its turn", async () => {
  const { page, shows, press, called } = await pageOf({ ...running, messages: [message] });
  await shows({ "#messages": /Be <b>brief<\/b>\. .* · not received yet/ });
  await page.getByLabel("Tell the agent …").fill("Leave the logs alone.");
  await press("Send");
  await called(`steer ${instance} Leave the logs alone.`);
  await shows({ "#steer-text@value": "" });
  await press("Stop after this turn");
  await called(`steer ${instance} stop`);
});

test("the page of a run that takes no message says why", async () => {
  const noInput = { steer: "codex takes no message", stop: "codex takes no message" };
  const { shows } = await pageOf({ ...running, noInput });
  await shows({ "#people": /codex takes no message/, "#steer": 0 });
});

test("a person continues the session of a run that has ended, and sees the runs before and after it", async () => {
  const after = { ...message, seq: 2, kind: "continue", continuedBy: "dev-bbbbbbbb" } as const;
  const { page, shows, press, called } = await pageOf({
    isKept: true,
    continues: "dev-aaaaaaaa",
    messages: [after],
  });
  await shows({
    "#continues a@href": "/dashboard/agents/dev/runs/dev-aaaaaaaa",
    "#messages a@href": "/dashboard/agents/dev/runs/dev-bbbbbbbb",
  });
  await page.getByLabel("Continue its session …").fill("Now open the pull request.");
  await press("Continue");
  await called(`continue ${instance} Now open the pull request.`);
  await page.waitForURL(/dev-zyxwvuts/);
});
