import { chmod } from "node:fs/promises";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { clockAhead } from "../helpers/scheduler.ts";
import { fakeProvider } from "../runtime/harness/fake-provider.ts";
import { realPrograms } from "../runtime/harness/llm-cli/real-programs.ts";
import { messages } from "../runtime/harness/pi/wires/messages.ts";

// Claude refuses to work as root.
const user = whyNoOsUsers() === null ? await tempUser() : null;
const bin = user === null ? null : await realPrograms();
const patience = { timeout: 60_000 };
const hourMs = 3_600_000;

let asked = 0;
const provider = await fakeProvider((_call, response) => {
  asked += 1;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(messages.stream({ kind: "text", text: "Paid." }));
});
afterAll(async () => {
  await provider.close();
  await user?.remove();
});

/** Less than the least call costs, so that the first one is held. */
const agentWith = (runAs: string, harness = "") => `models = ["paid"]
credentials = []
callable = true
[approve]
over = 0.005
[runtime]
type = "host-user"
run_as = "${runAs}"
${harness}`;

test(
  "a run whose spending needs approval sends nothing before it, also after a crash of the scheduler",
  { timeout: 180_000 },
  async () => {
    const project = await LiveProject.of({
      "project/config.toml": `[models.paid]
provider = "custom"
model = "claude-sonnet-4-5"
api = "anthropic-messages"
baseUrl = "${new URL(provider.baseUrl).origin}"
price = { input = 10, output = 10, cacheRead = 10, cacheWrite = 10 }
`,
      "project/agents/pi/SKILL.md": "Pay.\n",
      "project/agents/pi/config.toml": agentWith("$USER"),
      "home/credentials/custom_key/default/key": "key-of-the-model",
    });
    const agents = bin === null ? ["pi"] : ["claude", "pi"];
    if (bin !== null && user !== null) {
      await chmod(project.path(".."), 0o755);
      const harness = `[harness]\ntype = "llm-cli"\ncommand = "${bin}/claude"\n`;
      await project.write("agents/claude/SKILL.md", "Pay.\n");
      await project.write("agents/claude/config.toml", agentWith(user.name, harness));
    }
    const open = async (): Promise<readonly QuestionView[]> => {
      const path = "/api/questions?state=open";
      return (await project.json<{ questions: readonly QuestionView[] }>(path)).questions;
    };
    const held = async () =>
      (await open()).map(({ agent, kind, subject }) => `${agent} ${kind} ${subject}`).sort();
    const answerAll = async (answer: string) => {
      for (const { id } of await open()) {
        const path = `/api/questions/${id}/answer`;
        expect((await project.post(path, { answer })).status).toBe(200);
      }
    };
    const heldAt = (amount: string) =>
      expect.poll(held, patience).toEqual(agents.map((name) => `${name} over ${amount}`));

    await project.start();
    expect(await project.trigger(...agents)).toEqual(agents.map(() => 202));
    await heldAt("$0.005");
    await project.crash({ env: clockAhead(hourMs) });
    await heldAt("$0.005");
    await answerAll("once");
    await heldAt("$0.01");
    expect(asked).toBe(0);
    await answerAll("run");
    for (const agent of agents) {
      const ended = { outcome: "succeeded", attempt: 1 };
      await expect.poll(() => project.latest(agent), patience).toMatchObject(ended);
      const said = async () => (await project.messages(agent, "said")).at(-1);
      await expect.poll(said, patience).toBe("Paid.");
    }
  },
);
