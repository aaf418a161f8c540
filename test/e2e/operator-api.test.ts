import type { ReceiptView, ReplayResult } from "../../src/foundation/contracts/operator-api.ts";
import { regenerateApiKey } from "../../src/foundation/credentials/api-key.ts";
import { readStream } from "../interfaces/gateway/event-stream.ts";
import { until } from "../helpers/command-agents.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { deliverIssue, storeIssueSecret } from "./issue-deliveries.ts";

let project: LiveProject;

/** The webhook example, whose runs last until `letGo`. */
async function startHeld(): Promise<void> {
  project = await LiveProject.copy("examples/pull-request");
  await storeIssueSecret(project);
  const command = JSON.stringify(until(project.path("go")));
  const tools = `[[turns.tools]]\nname = "bash"\narguments = { command = ${command} }`;
  await project.write("triage.script.toml", `[[turns]]\n${tools}\n\n[[turns]]\ntext = "done"\n`);
  await project.edit("agents/triage/config.toml", /^/, "maxWorkQueueSize = 1\n");
  await project.start();
}

const letGo = (): Promise<void> => project.write("go", "");

const deliver = (repo?: string) => deliverIssue(project, repo);

test("a delivery whose work was dropped from a full queue is a dead letter that al replay runs", async () => {
  await startHeld();
  const running = await deliver();
  await expect.poll(async () => (await project.history())[0]?.startedAt).toBeTypeOf("string");
  const dropped = await deliver();
  const waiting = await deliver();
  const letter = { receiptId: dropped, outcome: "dropped", reason: "queue_full" };
  await expect.poll(() => project.history("deadLetter=true")).toMatchObject([letter]);

  await letGo();
  await expect.poll(() => project.history("outcome=succeeded"), slowly).toHaveLength(2);
  const replayed = await project.al("replay", dropped, "--json");
  expect(replayed).toMatchObject({ code: 0, stderr: "" });
  const { matched } = JSON.parse(replayed.stdout) as ReplayResult;
  expect(matched).toMatchObject([{ agent: "triage", outcome: "started" }]);
  await expect.poll(() => project.history("outcome=succeeded"), slowly).toHaveLength(3);
  const [latest, ...earlier] = await project.history("outcome=succeeded");
  expect(latest).toMatchObject({ receiptId: dropped, id: matched[0]?.triggerId });
  expect(latest?.instanceId).toBe(matched[0]?.instanceId);
  expect(earlier.map(({ receiptId }) => receiptId)).toEqual([waiting, running]);
  expect(await project.history("deadLetter=true")).toHaveLength(1);
});

test("a delivery without a matching agent names the closest agent, is shown without its secrets, and can be run for one agent", async () => {
  await startHeld();
  const receiptId = await deliver("acme/other");
  const reason = "agent triage: repos does not include acme/other";
  expect(await project.history("deadLetter=true")).toMatchObject([
    { agent: null, receiptId, reason },
  ]);

  const receipt = await project.json<ReceiptView>(`/api/stats/webhooks/${receiptId}`);
  expect(receipt).toMatchObject({
    type: "github",
    source: "github",
    payload: {
      action: "opened",
      hook: { config: { secret: "[redacted]", note: "signed with [redacted]" } },
    },
  });
  expect(JSON.stringify(receipt)).not.toContain("x-hub-signature");

  const again = await project.al("replay", receiptId);
  expect(again).toMatchObject({ code: 1, stdout: "", stderr: `nothing ran: ${reason}\n` });
  const one = await project.al("replay", receiptId, "--agent", "triage");
  expect(one.stdout).toMatch(/^triage started: triage-[a-z2-7]{8}\n$/);
  expect((await project.al("replay", receiptId, "-a", "triag")).stderr).toContain(
    'did you mean "triage"?',
  );
  await letGo();
  await expect.poll(() => project.history("outcome=succeeded"), slowly).toHaveLength(1);
});

test("a regenerated key ends the sessions and streams of the old one within two seconds, and commands continue", async () => {
  project = await LiveProject.hello();
  const scheduler = await project.start();
  const { url, apiKey } = scheduler;
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ key: apiKey });
  const login = await fetch(`${url}/login`, { method: "POST", headers: json, body });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const path = `${url}/dashboard/api/status-stream`;
  const old = { authorization: `Bearer ${apiKey}` };
  const streams = [await readStream(path, { cookie }), await readStream(path, old)];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);

  const { key } = await regenerateApiKey(project.home);
  for (const stream of streams) {
    await expect.poll(() => stream.isEnded(), { timeout: 2_500 }).toBe(true);
  }
  const statusWith = async (headers: Record<string, string>) =>
    (await fetch(`${url}/control/status`, { headers })).status;
  expect(await statusWith(old)).toBe(401);
  expect(await statusWith({ cookie })).toBe(401);
  expect(await statusWith({ authorization: `Bearer ${key}` })).toBe(200);
  expect(await project.al("stat")).toMatchObject({ code: 0 });
  expect(scheduler.output()).toContain("the API key changed");
  expect(scheduler.output()).not.toContain(key);
});

test("the next command is accepted after al doctor regenerated the key", async () => {
  project = await LiveProject.hello();
  await project.start();
  const made = await project.al("doctor", "--regenerate-key");
  expect(made.stdout).toContain("sessions and streams of the old one are over");
  expect(await project.al("stat")).toMatchObject({ code: 0 });
});
