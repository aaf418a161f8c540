import type { AuditReport } from "../../src/features/people/audit-report.ts";
import type { QuestionsView } from "../../src/foundation/contracts/question-views.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

const script = `[[turns]]
[[turns.tools]]
name = "al_ask"
arguments = { question = "Deploy 1.4?", choices = ["yes", "no"] }

[[turns]]
text = "done"
`;

test("al questions lists a question, al answer answers it once, and al audit shows the person and the time", async () => {
  const project = await LiveProject.hello();
  await project.write("hello.script.toml", script);
  await project.start();
  const since = Date.now();
  await project.trigger("hello");
  const open = async () => {
    const { questions } = JSON.parse(await project.print("questions", "--json")) as QuestionsView;
    return questions;
  };
  await expect.poll(open, slowly).toMatchObject([{ agent: "hello", prompt: "Deploy 1.4?" }]);
  const [question] = await open();
  const { instanceId = "" } = question ?? {};
  const id = (question?.id ?? "").slice(-6);
  expect(await project.print("stat")).toContain("1 question waits: al questions");

  const wrong = await project.al("answer", id, "maybe");
  expect(wrong).toMatchObject({ code: 1, stdout: "" });
  expect(wrong.stderr).toContain('"maybe" is not one of: yes, no\nhint: the question: Deploy');
  expect(await project.print("answer", id, "YES")).toBe(`answered yes; ${instanceId} continues\n`);
  const second = await project.al("answer", id, "no");
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr).toMatch(/the API key answered: yes \(20.+Z\)/);

  await expect.poll(() => project.history("outcome=succeeded"), slowly).toHaveLength(1);
  expect(await project.print("questions", "--all")).toMatch(
    /hello .+ yes +al on this machine +Deploy/,
  );
  const audit = await project.print("audit", "--agent", "hello", "--since", "1h", "--json");
  const { entries } = JSON.parse(audit) as AuditReport;
  const by = { via: "key", name: "", from: null };
  expect(entries).toMatchObject([
    { act: "answer", agent: "hello", instanceId, detail: "yes (Deploy 1.4?)", by },
    { act: "trigger", agent: "hello", instanceId },
  ]);
  expect(Date.parse(entries[0]?.at ?? "")).toBeGreaterThan(since);

  await project.print("doctor", "--regenerate-key");
  await project.print("stop");
  const { stdout, stderr } = await project.al("audit", "-n", "2");
  expect(stdout).toMatch(/al on this machine +stop +0 runs\n.+terminal +key-change\n$/);
  expect(stderr).toContain("no scheduler is running; read from the project's store\n");
  expect(stderr).toContain("more than 2 acts; -n shows up to 200");
});
