import { createAudit, createAuditStore } from "../../../src/features/people/audit.ts";
import { auditQuerySchema } from "../../../src/features/people/audit-report.ts";
import type { Act } from "../../../src/foundation/contracts/audit-acts.ts";
import { createQuestionStore } from "../../../src/features/people/question-store.ts";
import { createQuestions } from "../../../src/features/people/questions.ts";
import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { createClock } from "../../../streams/clock.ts";
import { asyncScheduler } from "rxjs";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { tempStore } from "../../foundation/store/support.ts";

const phone: Person = { via: "login", name: "", from: "10.0.0.7" };
const ada: Person = { via: "slack", name: "Ada", from: null };
const redactor = createRedactor();
redactor.add(["hunter2"]);
const { redact } = redactor;

function opened() {
  const store = tempStore();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  let time = Date.parse("2026-11-22T08:00:00Z");
  const now = () => (time += 60_000);
  let stored = 0;
  const onAct = () => void (stored += 1);
  const audit = createAudit({ store: store.tables(createAuditStore), now, redact, warn, onAct });
  const list = (query: object = {}) => audit.page(auditQuerySchema.parse(query));
  const record = async (by: Person, ...acts: readonly Act[]) => {
    for (const act of acts) audit.recordAct(act, by);
    await store.settings.recordAlive(1);
  };
  return { store, warnings, warn, list, record, audit, stored: () => stored };
}

const kill: Act = { act: "kill", agent: "a", instanceId: "a-abcdefgh" };

test("the audit trail lists each action with the person, in pages, the latest first", async () => {
  const { list, record, stored } = opened();
  await record(phone, { act: "pause" }, kill);
  await record(ada, { act: "resume" });
  const first = list({ limit: 2 });
  expect(first.entries).toMatchObject([
    { act: "resume", at: "2026-11-22T08:03:00.000Z", agent: null, by: ada },
    { ...kill, detail: "", by: phone },
  ]);
  const second = list({ limit: 2, before: first.next ?? 0 });
  expect(second).toMatchObject({ entries: [{ act: "pause" }], next: null });
  expect(stored()).toBe(3);
});

test.each([
  [{ by: "slack" }, "raise"],
  [{ by: "Ada" }, "raise"],
  [{ by: "10.0.0.7" }, "kill pause"],
  [{ act: "kill" }, "kill"],
  [{ agent: "a" }, "raise kill"],
  [{ instance: "a-abcdefgh" }, "kill"],
  [{ since: "2026-11-22T08:02:00Z" }, "raise kill"],
  [{ agent: "a", by: "login", since: "2026-11-22T09:00:00Z" }, ""],
])("the audit trail filters by %j", async (query, acts) => {
  const { list, record } = opened();
  await record(phone, { act: "pause" }, kill);
  await record(ada, { act: "raise", agent: "a" });
  expect(
    list(query)
      .entries.map(({ act }) => act)
      .join(" "),
  ).toBe(acts);
});

test("the audit trail shows an action's details as one short line without secrets", async () => {
  const { list, record } = opened();
  const detail = `use hunter2\n\n for ${"x".repeat(300)}`;
  await record(phone, { act: "trigger", agent: "a", detail });
  const [entry] = list().entries;
  expect(entry?.detail).toMatch(/^use \[redacted\] for x+…$/);
  expect(entry?.detail).toHaveLength(200);
});

test("an action that can't be recorded in the audit trail logs a warning", async () => {
  const { store, audit, warnings } = opened();
  store.tables((db) => ({ done: db.exec("DROP TABLE audit") }));
  expect(() => audit.recordAct({ act: "pause" }, phone)).not.toThrow();
  await expect
    .poll(() => warnings)
    .toEqual([expect.stringMatching(/^the audit trail lacks an act \(pause\): /) as string]);
});

test("pruning the history prunes the audit trail", async () => {
  const { store, list, record } = opened();
  await record(phone, { act: "pause" });
  await store.prune({ now: Date.parse("2026-12-30T08:00:00Z"), days: 30, maxBytes: 1e9 });
  expect(list().entries).toEqual([]);
});

function withQuestions() {
  const { store, list, warn } = opened();
  const questions = createQuestions({
    store: store.tables(createQuestionStore),
    clock: createClock(asyncScheduler),
    redactor,
    onCount: () => undefined,
    warn,
  });
  onTestFinished(questions.stop);
  const ask = async (kind: "ask" | "host", ...choices: readonly string[]) => {
    const { id } = await questions.open({
      kind,
      agent: "a",
      gates: [],
      instanceId: "a-abcdefgh",
      subject: "api.example.com",
      seconds: 60,
      prompt: "Deploy 1.4?",
      form: { kind: "choice", choices },
      fallback: null,
    });
    return id;
  };
  return { ...questions, store, list, ask };
}

test("the audit trail records an answer and an approval as different actions", async () => {
  const { answer, ask, list } = withQuestions();
  await answer(await ask("ask", "yes", "no"), "yes", ada);
  await answer(await ask("host", "once", "deny"), "once", phone);
  const about = { agent: "a", instanceId: "a-abcdefgh" };
  expect(list().entries).toMatchObject([
    { act: "approve", ...about, detail: "Allow once (host api.example.com)", by: phone },
    { act: "answer", ...about, detail: "yes (Deploy 1.4?)", by: ada },
  ]);
});

test("the audit trail records only the first of two answers to a question", async () => {
  const { answer, withdraw, ask, list } = withQuestions();
  const id = await ask("ask", "yes", "no");
  await Promise.allSettled([answer(id, "yes", ada), answer(id, "no", phone)]);
  await withdraw(await ask("ask", "yes"));
  expect(list().entries).toMatchObject([{ act: "answer", detail: "yes (Deploy 1.4?)", by: ada }]);
});

test("an answer is not stored if its audit entry can't be stored", async () => {
  const { store, answer, find, ask } = withQuestions();
  const id = await ask("ask", "yes", "no");
  store.tables((db) => ({
    done: db.exec(
      "CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'broken'); END",
    ),
  }));
  await expect(answer(id, "yes", ada)).rejects.toThrow("broken");
  expect(find(id)?.state).toBe("open");
});
