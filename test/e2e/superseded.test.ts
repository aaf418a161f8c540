import type { QuestionsView } from "../../src/foundation/contracts/question-views.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { addScripted, bash } from "../helpers/scripted-agents.ts";

test("examples/pull-request ends the review of an earlier push, which names the newer one", async () => {
  const project = await LiveProject.copy("examples/pull-request");
  await project.edit("agents/review/config.toml", 'quiet = "10s"', 'quiet = "1s"');
  await project.start();
  await project.store("github_webhook_secret", { secret: "a-secret-of-the-example" });
  const payload = project.path("pull-request-opened.json");
  const push = (delivery: string) =>
    project.print("webhook", "send", payload, "-e", "pull_request", "--delivery", delivery);
  await project.edit("review.script.toml", /delayMs = \d+/, "delayMs = 600000");
  await push("first");
  await expect.poll(() => project.messages("review", "tool"), slowly).toHaveLength(2);
  await project.edit("review.script.toml", /delayMs = \d+/, "delayMs = 1");
  await push("second");
  const reviews = () => project.history("agent=review");
  await expect
    .poll(reviews, slowly)
    .toMatchObject([{ outcome: "succeeded" }, { outcome: "superseded", exitCode: 125 }]);
  const [newer, older] = await reviews();
  expect(older?.reason).toBe(
    `newer work with its key "Codertocat/Hello-World#2" took its place: ${newer?.id}`,
  );
  const tested = await project.print("webhook", "test", newer?.receiptId ?? "");
  expect(tested).toMatch(
    /\{number\} 2\n[^]*review +yes +Codertocat\/Hello-World#2 +gathers as Codertocat\/Hello-World#2/m,
  );
});

test("a run that newer work of its key ends frees its lock, withdraws its question and runs its hooks, and its caller gets the outcome", async () => {
  const project = await LiveProject.of({ "project/config.toml": "" });
  const file = (name: string) => project.path(`../${name}`);
  const config = `[concurrency]\nkey = "{trigger}"\nonNew = "cancel"\n${ownUser}[hooks]\npost = ['echo "outcome $AL_OUTCOME"']\n`;
  const turns = bash(`rlock demo:x; test -e ${file("second")} || al-ask 'Go?'`);
  await addScripted(project, "asker", { turns, config });
  const id = `sed 's/.*"callId":"\\([^"]*\\)".*/\\1/'`;
  for (const name of ["first", "second"]) {
    const command = `touch ${file(name)}; al-subagent-wait $(echo go | al-subagent asker | ${id}) > ${file(`${name}.json`)}`;
    await addScripted(project, name, { turns: bash(command) });
  }
  await project.start();
  await project.trigger("first");
  const states = async () =>
    (await project.json<QuestionsView>("/api/questions")).questions.map(({ state }) => state);
  await expect.poll(states, slowly).toEqual(["open"]);
  await project.trigger("second");
  const outcomes = async () => (await project.history("agent=asker")).map(({ outcome }) => outcome);
  await expect.poll(outcomes, slowly).toEqual(["succeeded", "superseded"]);
  expect(await states()).toEqual(["withdrawn"]);
  expect(await project.messages("asker", "hook")).toContain("outcome superseded");
  for (const [name, outcome] of Object.entries({ first: "superseded", second: "succeeded" })) {
    await expect.poll(() => project.latest(name), slowly).toMatchObject({ outcome: "succeeded" });
    expect(await project.read(`../${name}.json`)).toContain(`"outcome":"${outcome}"`);
  }
  expect(await project.json("/api/alerts")).toMatchObject({ open: [] });
});
