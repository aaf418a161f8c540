import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { RunView } from "../../src/interfaces/views/run-view.ts";
import { createRunSessions } from "../../src/features/people/run-sessions.ts";
import { openStoreReader } from "../../src/foundation/store/store.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });
let project: LiveProject;

beforeEach(async () => {
  project = await LiveProject.hello();
  const turn = (command: string) =>
    `[[turns]]\ntools = [{ name = "bash", arguments = { command = "${command}" } }]\n`;
  const waits = `touch ${project.path("started")}; until [ -e ${project.path("go")} ]; do sleep 0.1; done`;
  const last = '[[turns]]\ntext = "Done."\n';
  await project.write("hello.script.toml", turn(waits) + turn("echo seen") + last);
  const hook = `echo $AL_OUTCOME > ${project.path("outcome")}; while [ -e ${project.path("hold")} ]; do sleep 0.1; done`;
  await project.append("agents/hello/config.toml", `\n[hooks]\npost = ["${hook}"]\n`);
  await project.start();
});

const runs = (instanceId: string) => project.json<RunView>(`/api/runs/${instanceId}`);
const steer = (instanceId: string, body: object) =>
  project.post(`/api/runs/${instanceId}/steer`, body);
const times = (text: string, part: string) => text.split(part).length - 1;

/** A run whose model waits in its first tool call. */
async function working(): Promise<string> {
  expect(await project.trigger("hello")).toEqual([202]);
  await expect.poll(() => existsSync(project.path("started")), slowly).toBe(true);
  return (await project.latest("hello"))?.instanceId ?? "";
}

async function ended(instanceId: string): Promise<RunView> {
  await project.write("go", "");
  await expect.poll(async () => (await runs(instanceId)).outcome, slowly).not.toBeNull();
  return runs(instanceId);
}

/** The kept session of a run. */
function sessionOf(instanceId: string): string {
  const store = openStoreReader(project.dir);
  const kept = store?.tables(createRunSessions).part(instanceId, 0);
  store?.close();
  return kept?.entries ?? "";
}

test("a run receives each message of people once, also across a killed scheduler", async () => {
  const instanceId = await working();
  expect((await steer(instanceId, { text: "Leave the logs alone." })).status).toBe(202);
  const received = async () => (await runs(instanceId)).messages.map((one) => one.receivedAt);
  await expect.poll(received, slowly).not.toContain(null);
  await project.crash();
  await project.print("steer", instanceId, "And be brief.");
  await expect.poll(received, slowly).toHaveLength(2);
  await expect.poll(received, slowly).not.toContain(null);

  await project.write("hold", "");
  await project.write("go", "");
  await expect.poll(() => existsSync(project.path("outcome")), slowly).toBe(true);
  const continues = expect.stringContaining(`al continue ${instanceId} "…"`) as string;
  const refusedDuringHooks = async () => {
    const during = await steer(instanceId, { text: "One more." });
    expect(await during.json()).toMatchObject({ status: 409, detail: continues });
  };
  await refusedDuringHooks();
  await project.crash();
  await refusedDuringHooks();
  await rm(project.path("hold"));
  const run = await ended(instanceId);
  expect(run).toMatchObject({ outcome: "succeeded", isKept: true });
  const kept = sessionOf(instanceId);
  expect(["Leave the logs alone.", "And be brief."].map((one) => times(kept, one))).toEqual([1, 1]);
  expect(kept.indexOf("Leave the logs alone.")).toBeLessThan(kept.indexOf("echo seen"));
  expect(await project.messages("hello", "steer")).toEqual([
    "Leave the logs alone.",
    "And be brief.",
  ]);
  const refused = await steer(instanceId, { text: "Too late." });
  expect(await refused.json()).toMatchObject({ status: 409, detail: continues });
  expect((await steer("hello-nobody12", { text: "Hello?" })).status).toBe(404);
});

test("a run that is stopped after its turn, and one that is killed, can be continued", async () => {
  const stopped = await working();
  await project.print("steer", stopped, "--stop");
  const before = await project.post(`/api/runs/${stopped}/continue`, { prompt: "Now?" });
  expect(before.status).toBe(409);
  expect(await ended(stopped)).toMatchObject({ outcome: "stopped", exitCode: 0, isKept: true });
  expect((await project.read("outcome")).trim()).toBe("stopped");

  const next = (await project.print("continue", stopped, "Go on <b>now</b>.")).trim();
  const run = await ended(next);
  expect(run).toMatchObject({
    outcome: "succeeded",
    continues: stopped,
    prompt: "Go on <b>now</b>.",
  });
  expect((await runs(stopped)).continuedBy).toEqual([next]);
  expect(await project.print("show", stopped)).toContain(`Continued by  ${next}`);
  const kept = sessionOf(next);
  // The tool of the first run, and the second turn of the script.
  expect(kept).toContain("until [ -e");
  expect(kept).toContain("echo seen");
  expect(await project.print("show", next, "--prompt")).toMatch(
    /ended at .* \(.*\)\. The results of its tools/,
  );

  await project.edit("hello.script.toml", "until [ -e", "until [ -e /nowhere");
  const killed = (
    await project.json<{ instanceId: string }>("/control/trigger/hello", { method: "POST" })
  ).instanceId;
  await expect.poll(() => project.messages("hello", "tool"), slowly).toHaveLength(3);
  await project.print("kill", killed);
  expect(await ended(killed)).toMatchObject({ outcome: "killed", isKept: true });
  expect(sessionOf(killed)).toContain("/nowhere");
});
