import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { commandAgents } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";

/**
 * A `.al` as version 0.1.0 left it when its scheduler and its run were killed: a run of `greets`, which was disabled
 * after it, a failed one of `fails`, two deliveries for `listens`, one run of `slow` under way and one queued.
 */
const stateOf01 = join(import.meta.dirname, "../fixtures/al-of-0.1.tar.gz");

test("a .al folder of version 0.1.0 opens with history, logs and index, and its open work runs", async () => {
  const project = await commandAgents(() => ({
    greets: "echo hello",
    fails: "al-exit 3",
    listens: "echo handled",
    slow: "echo waited",
  }));
  await project.edit("config.toml", /^/, "historyRetentionDays = 36500\n");
  execFileSync("tar", ["-xzf", stateOf01, "-C", project.dir]);
  await project.start();

  const ends = async (): Promise<readonly string[]> =>
    (await project.history()).map(({ agent, kind, attempt, outcome }) =>
      [agent, kind, attempt, outcome].join(" "),
    );
  await expect
    .poll(async () => (await ends()).toSorted(), slowly)
    .toEqual([
      "fails manual 1 failed",
      "greets manual 1 succeeded",
      "listens webhook 1 succeeded",
      "listens webhook 1 succeeded",
      "slow manual 1 lost",
      "slow manual 1 succeeded",
      "slow manual 2 succeeded",
    ]);

  const entries = await project.history();
  expect(entries.find(({ agent }) => agent === "fails")).toMatchObject({
    exitCode: 3,
    reason: "the agent ended its run with code 3",
  });
  const delivery = entries.find(({ kind }) => kind === "webhook");
  const receipt = await project.json(`/api/stats/webhooks/${String(delivery?.receiptId)}`);
  expect(receipt).toMatchObject({ source: "own", matched: ["listens"] });
  expect(await project.agent("greets")).toMatchObject({ enabled: false });
  expect(await project.json("/api/search?q=greeting")).toMatchObject({
    runs: [{ agent: "greets", outcome: "succeeded", count: 1 }],
  });
  expect(await project.print("logs", "greets")).toContain("hello from the past");
}, 90_000);
