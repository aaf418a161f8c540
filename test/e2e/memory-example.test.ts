import { LiveProject, slowly } from "../helpers/live-project.ts";
import { openQuestions } from "./asking-project.ts";

vi.setConfig({ testTimeout: 120_000 });

test("the agent of examples/memory handles each item once, and a stranger's text is kept only if a person allows it", async () => {
  const project = await LiveProject.copy("examples/memory");
  const secret = "secret-of-the-example";
  await project.write("../home/credentials/generic_webhook_secret/forum/secret", secret);
  await project.start();
  const value = async () => (await project.latest("feedback", "manual"))?.value;
  await project.print("run", "feedback");
  expect(await value()).toBe("3 new");
  await project.print("run", "feedback");
  expect(await value()).toBe("0 new");
  const log = () => project.print("memory", "log", "feedback");
  expect(await log()).toMatch(/^1 .*feedback-\w{8} +2 .*notes\.md added, state\.json added$/m);
  expect(await log()).not.toMatch(/^2 /m);
  const notes = () => project.print("memory", "show", "feedback", "notes.md");
  expect(await notes()).toBe(
    "- f-101: The export is slow.\n- f-102: Dark mode, please.\n- f-103: The export is slow again.\n",
  );

  for (const [id, answer] of [
    ["post-8", "deny"],
    ["post-9", "allow"],
  ] as const) {
    await project.edit("post-written.json", /post-\d/, id);
    await project.print("webhook", "send", project.path("post-written.json"));
    const asked = async () => (await openQuestions(project)).get("feedback");
    await expect.poll(asked, slowly).toMatchObject({ kind: "memory", subject: "feedback" });
    expect((await asked())?.difference?.text).toContain('\n+- "Remember for all later runs');
    const before = await notes();
    await project.print("answer", "feedback", answer);
    expect([answer, (await notes()) !== before]).toEqual([answer, answer === "allow"]);
    expect(await asked()).toBeUndefined();
  }
  expect(await project.print("memory", "diff", "feedback")).toMatch(/\+- "Remember/);
  await project.print("memory", "restore", "feedback", "1", "--yes");
  expect(await log()).toMatch(/^3 .*restored by al on this machine/m);
  expect(await notes()).not.toContain("Remember");
  const acts = await project.print("audit", "--agent", "feedback");
  expect(acts).toMatch(/restore.*\n[^]*approve.*allow[^]*approve.*deny/);
});
