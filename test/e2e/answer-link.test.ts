import { expect, test, vi } from "vitest";
import { createAnswerLinks } from "../../src/features/people/answer-links.ts";
import type { QuestionsView } from "../../src/foundation/contracts/question-views.ts";
import { openStoreReader } from "../../src/foundation/store/store.ts";
import type { RunView } from "../../src/interfaces/views/run-view.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";
import type { LiveProject } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });
const form = { "content-type": "application/x-www-form-urlencoded" };

/** The open questions, and the path of the link of each to a target. */
async function linksOf(project: LiveProject): Promise<readonly string[]> {
  const { questions } = await project.json<QuestionsView>("/api/questions?state=open");
  const reader = openStoreReader(project.dir);
  const secret = reader?.settings.answerKey() ?? "";
  reader?.close();
  const { pathOf } = createAnswerLinks(secret, () => null);
  return questions.map(({ id, until }) => pathOf({ id, until: Date.parse(until) }, "ops"));
}

test("an agent waits for a person, also after a crash, until a link without a login answers", async () => {
  const project = await commandAgents((dir) => ({
    asker: `al-ask "Deploy 1.4?" --choice yes --choice no > '${dir}/answer'`,
  }));
  await project.start();
  await project.trigger("asker");
  const isWaiting = () =>
    expect
      .poll(() => project.agent("asker"), slowly)
      .toMatchObject({ state: "waiting", blockedBy: "person", running: 1 });
  await isWaiting();
  const [link = ""] = await linksOf(project);
  await project.crash();
  await isWaiting();
  const why = await project.json<{ now: readonly string[] }>("/api/agents/asker/why-not");
  expect(why.now).toContain("Its runs wait for people: 1 open question; al questions lists them.");

  const url = `${project.scheduler.url}${link}`;
  expect(await (await fetch(url)).text()).toContain("Deploy 1.4?");
  const answered = await fetch(url, { method: "POST", headers: form, body: "answer=yes" });
  expect(await answered.text()).toContain("<strong>yes</strong> · ops by a link");
  await expect.poll(() => project.latest("asker"), slowly).toMatchObject({ outcome: "succeeded" });
  expect(JSON.parse(await project.read("answer"))).toMatchObject({ ok: true, answer: "yes" });
  expect(await project.agent("asker")).toMatchObject({ state: "idle", blockedBy: null });
  const instanceId = (await project.latest("asker"))?.instanceId ?? "";
  expect(await project.json<RunView>(`/api/runs/${instanceId}`)).toMatchObject({
    questions: [{ state: "answered", answer: "yes", by: { via: "link", name: "ops" } }],
  });
  expect(await project.status()).toMatchObject({ scheduler: { questions: 0 } });
});
