import type { HostedModel } from "../model-host.ts";
import { fakeProvider, refusing } from "../fake-provider.ts";
import { aModel, aScripted } from "../jobs.ts";
import { logsOf } from "../run-entry.ts";
import { runSession, type EndedSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** A model whose provider rejects every request. */
async function rejected(name: string, status: number, message: string) {
  const provider = await fakeProvider(refusing(status, message));
  onTestFinished(() => provider.close());
  const { baseUrl, requests } = provider;
  return { model: aModel(name, baseUrl, { maxRetries: 0 }), requests };
}

const run = (...models: readonly HostedModel[]) => runSession({ workDir: tempDir(), models });
const cooldowns = ({ messages }: EndedSession) =>
  messages.flatMap((message) => (message.type === "cooldown" ? [message] : []));
const said = (ended: EndedSession) => logsOf(ended, "said").map(({ msg }) => msg);
const good = aScripted([{ text: "From the backup." }], "backup");

describe("a session with several models", () => {
  test("skips a rate-limited and an unreachable model, with a cooldown for each", async () => {
    const limited = await rejected("limited", 429, "Rate limit reached, try again in 20s");
    const absent = aModel("absent", "http://127.0.0.1:1/v1", { maxRetries: 0 });
    const before = Date.now();
    const ended = await run(limited.model, absent, good);
    expect(ended).toMatchObject({ error: null, usage: { model: "backup" } });
    expect(logsOf(ended, "fallback").map(({ fields }) => fields)).toMatchObject([
      { from: "limited", to: "absent", error: "429 Rate limit reached, try again in 20s" },
      { from: "absent", to: "backup", error: expect.stringMatching(/cannot be reached/) as string },
    ]);
    expect(cooldowns(ended).map(({ model }) => model)).toEqual(["limited", "absent"]);
    expect(cooldowns(ended)[0]?.until).toBeGreaterThanOrEqual(before + 20_000);
    expect(limited.requests).toHaveLength(1);
  });

  test("continues the conversation with the next model when one fails after a tool call", async () => {
    const tools = [{ name: "bash", arguments: { command: "echo kept" } }];
    const turns = [
      { text: "Step one.", tools },
      { status: 529, error: "overloaded" },
    ];
    const heir = aScripted([{ text: "never said" }, { text: "Step two." }], "heir");
    const ended = await run(aScripted(turns, "dying"), heir);
    expect(ended.error).toBeNull();
    expect(said(ended)).toEqual(["Step one.", "Step two."]);
    expect(logsOf(ended, "tool")).toHaveLength(1);
  });

  test("skips a model whose key is missing with a warning, and fails if no other model is left", async () => {
    const problem = "credential openai_key is missing; write it to /x";
    const broken = aModel("broken", "http://127.0.0.1:1/v1", { problem });
    const ended = await run(broken, good);
    expect(ended.error).toBeNull();
    const warnings = logsOf(ended, "run").filter(({ level }) => level === 40);
    expect(warnings).toMatchObject([{ msg: `model "broken": ${problem}` }]);
    await expect(run(broken)).rejects.toThrow(`model "broken": ${problem}`);
  });
});
