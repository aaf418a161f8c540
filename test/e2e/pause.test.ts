import { signDelivery } from "../../src/features/webhooks/sign.ts";
import type { WhyNot } from "../../src/foundation/contracts/refused-deliveries.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 180_000 });
const secret = "the-secret-of-the-deliveries";
let project: LiveProject;

/** Each run of `worker` notes the number of its delivery, and ends once the file `go` exists. */
beforeEach(async () => {
  project = await commandAgents((dir) => ({
    worker: `sed -n 's/.*"n": *\\([0-9]*\\).*/\\1/p' "$AL_PAYLOAD_FILE" >> '${dir}/ran'; ${until(`${dir}/go`)}`,
    waits: until(`${dir}/go`),
  }));
  const config = await project.read("config.toml");
  const source = '[webhooks.github]\ntype = "github"\ncredential = "default"\n';
  await project.write("config.toml", `workQueueSize = 3\n${config}${source}`);
  await project.append("agents/worker/config.toml", '[[webhooks]]\nsource = "github"\n');
  await project.store("github_webhook_secret/default/secret", secret);
  await project.start();
});

async function deliver(...numbers: readonly number[]): Promise<void> {
  for (const n of numbers) {
    const body = Buffer.from(JSON.stringify({ action: "opened", n }));
    const headers = signDelivery("github", secret, body, Date.now(), { event: "issues" });
    const url = `${project.scheduler.url}/webhooks/github`;
    const answer = await fetch(url, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { matched: [{ agent: "worker" }] },
    ]);
  }
}

/** Oldest first. */
const outcomes = async () =>
  (await project.history("agent=worker&kind=webhook")).map(({ outcome }) => outcome).toReversed();
const ran = async () => (await project.read("ran")).trim().split("\n").map(Number);

test("signed deliveries wait through a pause of all new work and a kill -9, and run in order on resume", async () => {
  await deliver(1, 2);
  await expect.poll(() => project.read("ran").catch(() => ""), slowly).toBe("1\n");
  expect(await project.print("pause", "--all-work")).toContain(
    "all new work waits until al resume",
  );
  await deliver(3, 4, 5, 6);
  const refused = await project.post("/control/trigger/waits");
  expect([refused.status, await refused.json()]).toMatchObject([409, { error: "paused" }]);
  expect((await project.al("run", "waits")).stderr).toContain("Resume it with al resume");

  await project.write("go", "");
  const none = Array.from({ length: 5 }, () => null);
  await expect.poll(outcomes, slowly).toEqual(["succeeded", ...none]);
  await project.crash();
  await deliver(7);
  expect((await project.status()).scheduler).toMatchObject({ paused: true, pausedWork: true });
  const { now } = await project.json<WhyNot>("/api/agents/worker/why-not");
  expect(now).toEqual([expect.stringContaining("All new work is paused: 6 work items waiting")]);
  expect(await project.print("stat")).toMatch(/All new work was paused \d+ \w+ ago/);
  expect(await ran()).toEqual([1]);

  await project.print("resume");
  // One runs, three wait in the agent's queue, and the two oldest of those were dropped.
  const dropped = ["dropped", "dropped"];
  const rest = ["succeeded", "succeeded", "succeeded"];
  await expect.poll(outcomes, slowly).toEqual(["succeeded", "succeeded", ...dropped, ...rest]);
  expect(await ran()).toEqual([1, 2, 5, 6, 7]);
  const dead = await project.history("agent=worker&deadLetter=true");
  expect(dead.map(({ reason }) => reason)).toEqual(["queue_full", "queue_full"]);
  await deliver(8);
  await expect.poll(ran, slowly).toEqual([1, 2, 5, 6, 7, 8]);
});

test("al kill --all ends all runs as killed, and off a terminal requires --yes", async () => {
  await deliver(1);
  expect(await project.trigger("waits")).toEqual([202]);
  const running = async () => (await project.status()).scheduler.running;
  await expect.poll(running, slowly).toBe(2);
  const { code, stderr } = await project.al("kill", "--all");
  expect([code, stderr]).toEqual([2, expect.stringContaining("--yes is missing: 2 running runs")]);
  expect(await project.print("kill", "--all", "--yes")).toBe("2 runs killed\n");
  const ends = async () => (await project.history()).map(({ outcome }) => outcome);
  await expect.poll(ends, slowly).toEqual(["killed", "killed"]);
  expect((await project.status()).scheduler).toMatchObject({ paused: false, running: 0 });
});
