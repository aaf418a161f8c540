import { asyncScheduler } from "rxjs";
import { parse } from "smol-toml";
import { createQuestionStore } from "../../../src/features/people/question-store.ts";
import { createQuestions } from "../../../src/features/people/questions.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import type { Person, Question } from "../../../src/foundation/contracts/questions.ts";
import { holdsHost } from "../../../src/foundation/contracts/network-allow.ts";
import { answerQuestion } from "../../../src/features/people/operations.ts";
import { performAs } from "../../../src/foundation/perform.ts";
import { fakeAudit } from "../../helpers/fake-audit.ts";
import { createClock } from "../../../streams/clock.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { agentProject } from "./agent-project.ts";

const ada: Person = { via: "login", name: "", from: null };
const dev = `schedule = "0 9 * * *" # every morning
models = ["main"]
credentials = []
`;

/** An open question about a gate of agent dev, and the operations on it. */
async function asked(
  approve: string,
  { subject, kind = "host" }: { subject: string; kind?: Question["kind"] },
  project = "",
) {
  const config = `${dev}\n[approve]\n${approve}\n`;
  const { edits, read } = await agentProject({ dev: config, project });
  const questions = createQuestions({
    store: tempStore().tables(createQuestionStore),
    clock: createClock(asyncScheduler),
    redactor: createRedactor(),
    onCount: () => undefined,
    warn: () => undefined,
  });
  onTestFinished(() => questions.stop());
  const form = { kind: "choice", choices: ["once", "run", "always", "deny"] } as const;
  const about = { agent: "dev", gates: ["dev"], instanceId: "dev-1", kind, subject, prompt: "?" };
  const { id } = await questions.open({ ...about, form, fallback: null, seconds: 60 });
  const context = {
    questions,
    differenceOf: () => Promise.resolve(null),
    allowAlways: edits.allowAlways,
    audit: fakeAudit([]),
  };
  const text = () => read("agents/dev/config.toml");
  return {
    answer: (answer: string, by = ada) => performAs(answerQuestion, { id, answer }, context, by),
    questions,
    state: () => questions.find(id)?.state,
    config,
    text,
    table: () => parse(text()) as unknown as Record<"approve" | "network", unknown>,
  };
}

test.each(["link", "token"] as const)('the answer "always" by %s is rejected', async (via) => {
  const { answer, state, text, config } = await asked('agents = ["b"]', {
    subject: "b",
    kind: "call",
  });
  const person: Person = { via, name: "ops", from: null };
  await expect(answer("ALWAYS", person)).rejects.toMatchObject({ code: "malformed" });
  expect([state(), text()]).toEqual(["open", config]);
  expect(await answer("run", person)).toMatchObject({ state: "answered", answer: "run" });
});

test("to allow a host always moves its entry from [approve] to [network]; comments stay", async () => {
  const hosts = 'hosts = ["API.Stripe.com.", "a.test"] # money';
  const { answer, text, table } = await asked(hosts, { subject: "api.stripe.com" });
  expect(await answer("Always")).toMatchObject({ state: "answered", answer: "always" });
  expect(table()).toMatchObject({
    approve: { hosts: ["a.test"] },
    network: { allow: ["api.stripe.com"] },
  });
  expect(text()).toContain("# every morning");
  expect(text()).toContain("# money");
});

test('the answer "always" keeps a wildcard, which no longer asks for that host', async () => {
  const { answer, table } = await asked('hosts = ["*.lan:8443 private"]', {
    subject: "db.lan:8443",
  });
  await answer("always");
  const approve = { hosts: ["*.lan:8443 private"], over: null, agents: [], tools: [] };
  const network = { allow: ["db.lan:8443 private"] };
  expect(table()).toMatchObject({ approve: { hosts: approve.hosts }, network });
  const holds = (host: string) => holdsHost({ approve, network }, { host, port: 8443 });
  expect([holds("db.lan"), holds("other.lan")]).toEqual([false, true]);
});

test.each([
  ["call", "agents", "deployer", "writer"],
  ["tool", "tools", "hub.send", "hub.get"],
] as const)(
  'the answer "always" to an approval of a %s removes it from [approve].%s',
  async (kind, list, subject, other) => {
    const { answer, table } = await asked(`${list} = ["${subject}", "${other}"]`, {
      kind,
      subject,
    });
    await answer("always");
    expect(table()).toMatchObject({ approve: { [list]: [other] } });
    expect(table().network).toBeUndefined();
  },
);

test('with edit = false the answer "always" is rejected', async () => {
  const locked = "\n[gateway]\nedit = false\n";
  const { answer, state, text, config } = await asked(
    'hosts = ["a.test"]',
    { subject: "a.test" },
    locked,
  );
  await expect(answer("always")).rejects.toMatchObject({ code: "read_only" });
  expect([state(), text()]).toEqual(["open", config]);
  await answer("once");
  expect(state()).toBe("answered");
});

test('the answer "always" edits the file before it counts', async () => {
  const { answer, text, questions } = await asked('hosts = ["a.test"]', { subject: "a.test" });
  const seen: string[] = [];
  const changes = questions.changed$.subscribe(({ state }) => seen.push(`${state} ${text()}`));
  onTestFinished(() => changes.unsubscribe());
  await answer("always");
  expect(seen).toEqual([`answered ${text()}`]);
  expect(text()).toContain('allow = ["a.test"]');
});

test('the second answer "always" changes no file', async () => {
  const { answer, text, config } = await asked('hosts = ["a.test"]', { subject: "a.test" });
  const [, second] = await Promise.allSettled([answer("deny"), answer("always")]);
  expect(second).toMatchObject({ reason: { code: "answered" } });
  expect(text()).toBe(config);
});
