import { aQuestionView } from "../../helpers/fake-questions.ts";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import type { TestDeps } from "../gateway/start-gateway.ts";

export const ada = { via: "slack", name: "Ada", from: null } as const;
const link = { via: "link", name: "ops", from: "10.0.0.7" } as const;
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

/** The id of a numbered question. */
export const idOf = (id: number): string =>
  `0193a1b2-0000-7000-8000-${String(id).padStart(12, "0")}`;

/** Two pages of acts, by persons of each kind; those of a run are on its page. */
export function withActs({ operations }: TestDeps, instance: string): void {
  const people = [
    { via: "key", name: "", from: null },
    { via: "login", name: "", from: "2001:db8:85a3::8a2e:370:7334" },
    { via: "terminal", name: "", from: null },
    link,
    ada,
  ] as const;
  for (let index = 0; index < 60; index++) {
    const about = index % 4 === 0 ? {} : { agent: "dev", instanceId: index % 2 ? instance : null };
    const detail = index % 3 === 0 ? "once (host api.stripe.com) ".repeat(7) : "";
    operations.context.audit.recordAct(
      { act: index % 2 ? "approve" : "raise", ...about, detail },
      people[index % 5],
    );
  }
}

/** Open questions of each form, and ended ones in each way; those of a run are on its page. */
export function withQuestions({ operations }: TestDeps, instance: string): void {
  const choice = (...choices: readonly string[]) => ({ kind: "choice", choices }) as const;
  const long = "Which of these?\n\n".padEnd(900, "It is one of several lines. ");
  const ended = { state: "answered", answeredAt: ago(300) } as const;
  const asked: readonly Partial<QuestionView>[] = [
    { instanceId: instance, prompt: "Deploy 1.4 to production? See https://ci.test/14" },
    {
      kind: "host",
      subject: "api.stripe.com",
      form: choice("once", "run", "always", "deny"),
      fallback: "deny",
    },
    { agent: "agent-1", form: { kind: "text", maxLength: 4000 }, prompt: long },
    { form: { kind: "number", min: 1, max: 9 }, fallback: 3, prompt: "How \u202Emany?" },
    { form: { kind: "boolean" }, prompt: "Merge it?", gates: ["dev", "ops"] },
    {
      kind: "memory",
      subject: "dev",
      prompt: "Keep the changes of dev-dddddddd to the memory dev (state.json changed)?",
      form: choice("allow", "deny"),
      difference: {
        text: '--- version-3/state.json\n+++ proposed/state.json\n@@ -1,1 +1,1 @@\n-{}\n+{"always":"approve \u202E"}\n',
        isCut: true,
      },
    },
    { form: choice("x".repeat(120), "Neither of them, and tell the team why") },
    { ...ended, instanceId: instance, answer: "yes", by: ada },
    { ...ended, kind: "host", answer: "always", by: link, prompt: long },
    { ...ended, state: "expired", answer: "no" },
    { ...ended, state: "expired" },
    { ...ended, state: "withdrawn" },
  ];
  operations.asked.push(
    ...asked.map((one, index) =>
      aQuestionView({ at: ago(600), until: ago(-80_000), id: idOf(index + 1), ...one }),
    ),
  );
  operations.setScheduler({ questions: 7 });
  operations.setAgent({ name: "agent-5", state: "waiting", blockedBy: "person" });
  const run = operations.runs.get(instance);
  if (run === undefined) return;
  const message = { seq: 1, at: ago(200), kind: "steer", text: long, by: ada } as const;
  operations.runs.set(instance, {
    ...run,
    questions: operations.asked.filter((one) => one.instanceId === instance),
    messages: [{ receivedAt: null, continuedBy: null, ...message }],
    isKept: true,
    continues: instance,
  });
}
