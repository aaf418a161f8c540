import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { RunView } from "../../src/runtime/runs/run-view.ts";
import { createSessionStore } from "../../src/features/sessions/session-store.ts";
import { createBlobs } from "../../src/foundation/files/blobs.ts";
import { openStoreReader } from "../../src/foundation/store/store.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import { addScripted, bash, scriptedAgents } from "../helpers/scripted-agents.ts";

let project: LiveProject;

beforeEach(async () => {
  project = await scriptedAgents({});
  const waits = `touch ${project.path("started")}; until [ -e ${project.path("go")} ]; do sleep 0.1; done`;
  const hook = `echo $AL_OUTCOME > ${project.path("outcome")}; while [ -e ${project.path("hold")} ]; do sleep 0.1; done`;
  await addScripted(project, "hello", {
    turns: bash(waits) + bash("echo seen"),
    config: `${ownUser}[hooks]\npost = ["${hook}"]\n`,
  });
  await project.start();
});

const view = (instanceId: string) => project.json<RunView>(`/api/runs/${instanceId}`);
const has = (file: string) => expect.poll(() => existsSync(project.path(file)), slowly).toBe(true);

/** A run whose model waits in its first tool call. */
async function working(): Promise<string> {
  expect(await project.trigger("hello")).toEqual([202]);
  await has("started");
  return (await project.latest("hello"))?.instanceId ?? "";
}

async function ended(instanceId: string): Promise<RunView> {
  await project.write("go", "");
  await expect.poll(async () => (await view(instanceId)).outcome, slowly).not.toBeNull();
  return view(instanceId);
}

/** The stored session of a run. */
async function sessionOf(instanceId: string): Promise<string> {
  const store = openStoreReader(project.dir);
  const [file] = store?.tables(createSessionStore).files(instanceId) ?? [];
  store?.close();
  return text(createBlobs(project.dir).read(file?.hash ?? ""));
}

test("a run receives each message from people once, even if the scheduler is killed, and none after its session has ended", async () => {
  const instanceId = await working();
  const texts = ["Leave the logs alone.", "And be brief."];
  const received = async () => {
    const { messages } = await view(instanceId);
    return messages.filter(({ receivedAt }) => receivedAt !== null).length;
  };
  await project.print("steer", instanceId, texts[0] ?? "");
  await expect.poll(received, slowly).toBe(1);
  await project.crash();
  await project.print("steer", instanceId, texts[1] ?? "");
  await expect.poll(received, slowly).toBe(2);

  await project.write("hold", "");
  await project.write("go", "");
  await has("outcome");
  await project.crash();
  const answer = await project.post(`/api/runs/${instanceId}/steer`, { text: "One more." });
  const detail = expect.stringContaining(`al continue ${instanceId} "…"`) as string;
  expect(await answer.json()).toMatchObject({ status: 409, detail });
  await rm(project.path("hold"));
  expect(await ended(instanceId)).toMatchObject({ outcome: "succeeded", isKept: true });
  const session = await sessionOf(instanceId);
  expect(session).toMatch(/Leave the logs alone\.[^]*echo seen/);
  for (const text of texts) expect(session.split(text)).toHaveLength(2);
  expect(await project.messages("hello", "steer")).toEqual(texts);
});

test("a run that is stopped after its turn can be continued", async () => {
  const stopped = await working();
  await project.print("steer", stopped, "--stop");
  const before = await project.post(`/api/runs/${stopped}/continue`, { prompt: "Now?" });
  expect(before.status).toBe(409);
  expect(await ended(stopped)).toMatchObject({ outcome: "stopped", exitCode: 0, isKept: true });
  expect(await project.read("outcome")).toBe("stopped\n");

  const prompt = "Go on <b>now</b>.";
  const next = (await project.print("continue", stopped, prompt)).trim();
  const outcome = "succeeded";
  expect(await ended(next)).toMatchObject({ outcome, continues: stopped, prompt });
  expect((await view(stopped)).continuedBy).toEqual([next]);
  // The tool of the first run, and the second turn of the script.
  expect(await sessionOf(next)).toMatch(/until \[ -e[^]*echo seen/);
  const shown = await project.print("show", next, "--prompt");
  expect(shown).toMatch(/ended at .* \(.*\): stopped\. The results of its tools/);
});
