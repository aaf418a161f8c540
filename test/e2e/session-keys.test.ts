import type { RunView } from "../../src/runtime/runs/run-view.ts";
import type { SessionsAnswer } from "../../src/features/sessions/operations.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 240_000 });

async function started(): Promise<LiveProject> {
  const project = await LiveProject.copy("examples/thread");
  await project.store("github_webhook_secret", { secret: "a-secret-of-the-example" });
  return project;
}

const send = (project: LiveProject, file: string, event = "issues", delivery = file) =>
  project.print("webhook", "send", project.path(file), "-e", event, "--delivery", delivery);
const runs = (project: LiveProject) => project.history("agent=helper");
const outcomes = async (project: LiveProject) =>
  (await runs(project)).map(({ outcome }) => outcome);
const view = (project: LiveProject, instanceId: string | null | undefined) =>
  project.json<RunView>(`/api/runs/${String(instanceId)}`);
const sessions = async (project: LiveProject) =>
  (await project.json<SessionsAnswer>("/api/agents/helper/sessions")).sessions;

test("examples/thread continues the conversation of an issue, also after a restart, and keeps that of another one apart", async () => {
  const project = await started();
  await project.start();
  await Promise.all(["issue-7.json", "issue-8.json"].map((file) => send(project, file)));
  await expect.poll(() => outcomes(project), slowly).toEqual(["succeeded", "succeeded"]);
  const [last, first] = (await runs(project)).map(({ instanceId }) => instanceId);
  await project.crash();
  await send(project, "comment-on-7.json", "issue_comment");
  await expect.poll(() => outcomes(project), slowly).toHaveLength(3);
  await expect.poll(() => outcomes(project), slowly).not.toContain(null);
  const answered = await view(project, (await runs(project))[0]?.instanceId);
  const before = (await view(project, first)).thread?.key === "octo/site#7" ? first : last;
  expect(answered).toMatchObject({
    outcome: "succeeded",
    lastWords: "We spoke before: your favourite colour is blue.",
    continues: before,
    thread: {
      key: "octo/site#7",
      runs: [{ instanceId: answered.instanceId }, { instanceId: before }],
    },
  });
  expect((await sessions(project)).map(({ key, runs: count }) => [key, count])).toEqual([
    ["octo/site#7", 2],
    ["octo/site#8", 1],
  ]);
  const prompt = await project.print("show", answered.instanceId, "--prompt");
  expect(prompt).toMatch(/conversation, "octo\/site#7", with the new trigger below/);
  expect(await project.print("session", "ls", "helper")).toContain("octo/site#8");
  expect(
    await project.print("webhook", "test", project.path("issue-8.json"), "-e", "issues"),
  ).toMatch(/helper +yes +octo\/site#8/);
});

test("a removed session is not continued", async () => {
  const project = await started();
  await project.start();
  await send(project, "issue-7.json");
  await expect.poll(() => outcomes(project), slowly).toEqual(["succeeded"]);
  expect(await project.print("session", "rm", "helper", "octo/site#7")).toContain(
    "removed 1 session",
  );
  await send(project, "comment-on-7.json", "issue_comment");
  await expect.poll(() => outcomes(project), slowly).toEqual(["succeeded", "succeeded"]);
  const [second] = await runs(project);
  expect(await view(project, second?.instanceId)).toMatchObject({
    continues: null,
    lastWords: "Thank you. I will remember this issue.",
  });
});

test("a delivery is sent into the live run of its key, whose scheduler is killed, and starts no run of its own", async () => {
  const project = await started();
  await project.edit("agents/helper/config.toml", 'keep = "30d"', 'whileRunning = "steer"');
  const waits = `until [ -e ${project.path("go")} ]; do sleep 0.1; done`;
  await project.edit("helper.script.toml", "echo read", waits);
  await project.start();
  await send(project, "issue-7.json");
  await expect.poll(() => project.messages("helper", "tool"), slowly).toHaveLength(1);
  await project.crash();
  await send(project, "comment-on-7.json", "issue_comment");
  await expect.poll(() => outcomes(project), slowly).toEqual(["succeeded", null]);
  const [sent, live] = await runs(project);
  expect(sent?.reason).toBe(`sent into ${live?.instanceId}, the live run of its session key`);
  await project.write("go", "");
  await expect.poll(() => outcomes(project), slowly).toEqual(["succeeded", "succeeded"]);
  expect(await project.messages("helper", "steer")).toEqual(["a delivery of its session key"]);
});
