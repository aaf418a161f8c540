import type { HostedModel } from "../model-host.ts";
import { fakeProvider, refusing, type FakeProvider } from "../fake-provider.ts";
import { aModel, aScripted } from "../jobs.ts";
import { logsOf } from "../run-entry.ts";
import { runSession, type EndedSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const open: FakeProvider[] = [];
const workDir = perTest(tempDir);
afterEach(() => Promise.all(open.splice(0).map((provider) => provider.close())));

async function provider(...answer: Parameters<typeof refusing>): Promise<FakeProvider> {
  const made = await fakeProvider(refusing(...answer));
  open.push(made);
  return made;
}

const run = (models: readonly HostedModel[]) => runSession({ workDir: workDir(), models });
const cooldowns = ({ messages }: EndedSession) =>
  messages.flatMap((message) => (message.type === "cooldown" ? [message] : []));
const once = { maxRetries: 0 };
const good = aScripted([{ text: "From the backup." }], "backup");

test("the chain of models continues past a limited, an overloaded and an absent model, and cools each down", async () => {
  const limited = await provider(429, "Rate limit reached, try again in 20s");
  const overloaded = await provider(503, "overloaded");
  const absent = await provider(500, "");
  await absent.close();
  const before = Date.now();
  const ended = await run([
    aModel("limited", limited.baseUrl),
    aModel("overloaded", overloaded.baseUrl, once),
    aModel("absent", absent.baseUrl, once),
    good,
  ]);
  expect(ended).toMatchObject({ error: null, usage: { model: "backup" } });
  expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["From the backup."]);
  expect(logsOf(ended, "fallback").map(({ fields }) => fields)).toMatchObject([
    { from: "limited", to: "overloaded", error: "429 Rate limit reached, try again in 20s" },
    { from: "overloaded", to: "absent", error: "503 overloaded" },
    { from: "absent", to: "backup", error: expect.stringMatching(/cannot be reached/) as string },
  ]);
  expect(cooldowns(ended).map(({ model }) => model)).toEqual(["limited", "overloaded", "absent"]);
  const [first, second] = cooldowns(ended).map(({ until }) => until - before);
  expect(first).toBeGreaterThanOrEqual(20_000);
  expect(first).toBeLessThan(40_000);
  expect(second).toBeGreaterThanOrEqual(60_000);
  expect(limited.requests).toHaveLength(1);
});

test("the chain of models keeps the conversation when a model fails after a tool call", async () => {
  const turns = [
    { text: "Step one.", tools: [{ name: "bash", arguments: { command: "echo kept" } }] },
    { status: 529, error: "overloaded" },
  ];
  const heir = aScripted([{ text: "never said" }, { text: "Step two." }], "heir");
  const ended = await run([aScripted(turns, "dying"), heir]);
  expect(ended.error).toBeNull();
  expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["Step one.", "Step two."]);
  expect(logsOf(ended, "tool")).toHaveLength(1);
});

test("the chain of models continues past a wrong key without a cooldown, because waiting does not fix it", async () => {
  const locked = await provider(401, "Incorrect API key provided");
  const ended = await run([aModel("locked", locked.baseUrl), good]);
  expect(ended.error).toBeNull();
  expect(cooldowns(ended)).toEqual([]);
});

test("the chain of models uses each model's own key if two share a provider", async () => {
  const [one, two] = [await provider(429, "slow down"), await provider(429, "slow down")];
  const groq = { provider: "groq", model: "llama-3.3-70b-versatile", maxRetries: 0 } as const;
  await run([aModel("one", one.baseUrl, groq), aModel("two", two.baseUrl, groq)]);
  expect(one.requests[0]?.authorization).toBe("Bearer key-of-one");
  expect(two.requests[0]?.authorization).toBe("Bearer key-of-two");
});

test("the chain of models skips a model with a problem and warns of it; without another model the session fails", async () => {
  const problem = "credential openai_key is missing; write it to /x";
  const broken = aModel("broken", "http://127.0.0.1:9/v1", { problem });
  const ended = await run([broken, good]);
  expect(ended.error).toBeNull();
  const [warning] = logsOf(ended, "run").filter(({ level }) => level === 40);
  expect(warning?.msg).toBe(`model "broken": ${problem}`);
  await expect(run([broken])).rejects.toThrow(`model "broken": ${problem}`);
});
