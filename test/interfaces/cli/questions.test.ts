import pc from "picocolors";
import type { AuditEntryView } from "../../../src/features/people/audit-report.ts";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { renderAll, renderAudit, renderOpen } from "../../../src/interfaces/cli/operator/people.ts";
import { widthOf } from "../../../src/interfaces/cli/terminal/fit.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { agentsOf, cliProject, refusal } from "./fake-operator.ts";

const cli = cliProject();
const now = new Date(2026, 10, 22, 12, 0, 0).getTime();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const by = { via: "slack", name: "Ada", from: null } as const;
const long = "something that goes on ".repeat(9);

const question = (end: string, values: Partial<QuestionView> = {}) =>
  aQuestionView({
    id: `0193a1b2-0000-7000-8000-0000${end}`,
    at: minutesAgo(90),
    until: minutesAgo(-30),
    ...values,
  });
const deploy = question("aaaa1111", {
  prompt: "Deploy 1.4?\nIt's \u001b[2Jlate.",
  gates: ["dev", "ops"],
});
const amount = question("bbbb1111", {
  agent: "cat",
  instanceId: "cat-abcdefgh",
  prompt: "How many?",
  form: { kind: "number", min: 1, max: 9 },
});
const answered = { answer: "yes", answeredAt: minutesAgo(10), by };
const ended = question("cccc2222", { instanceId: "dev-zzzzzzzz", state: "answered", ...answered });
const expired = question("dddd3333", {
  state: "expired",
  answer: "no",
  answeredAt: minutesAgo(5),
});
/** Not among the latest. */
const old = question("eeee4444");

const act = (minutes: number, values: Partial<AuditEntryView>): AuditEntryView => ({
  id: minutes,
  at: minutesAgo(minutes),
  act: "pause",
  agent: null,
  instanceId: null,
  detail: "",
  by: { via: "key", name: "", from: null },
  ...values,
});
const acts = [act(1, { act: "answer", agent: "dev", by, detail: long }), act(3, {})];

const open = [amount, deploy];

beforeEach(async () => {
  const { routes } = await cli.serve({
    ...agentsOf(),
    "GET /api/questions": ({ query }) => {
      return { questions: query.get("state") === "settled" ? [ended] : open, next: null };
    },
    [`POST /api/questions/${ended.id}/answer`]: refusal(409, "answered", "Ada via Slack answered"),
  });
  for (const one of [deploy, old]) {
    const path = `/api/questions/${one.id}`;
    routes[`GET ${path}`] = one;
    routes[`POST ${path}/answer`] = ({ body }) => ({ ...one, ...(body as object) });
  }
});

test("al questions and al audit print their tables, in full on a terminal", async () => {
  const style = { colors: pc.createColors(false), now };
  const all = [{ ...deploy, prompt: long }, ended, expired];
  const audit = renderAudit(acts, { ...style, columns: 80 });
  for (const line of audit.split("\n")) expect(widthOf(line), line).toBeLessThanOrEqual(80);
  const printed = [
    renderOpen(open, { ...style, columns: 40 }),
    renderOpen([deploy], { ...style, columns: null }),
    renderAll(all, { ...style, columns: 80 }),
    audit,
  ];
  await expect(`${printed.join("\n\n")}\n`).toMatchFileSnapshot("questions.txt");
});

test.each(["aaaa1111", "a1111", deploy.id, old.id, "dev-abcdefgh"])(
  "al answer accepts the id %s",
  async (id) => await cli.prints(`answer ${id} YES`, "answered YES; dev-abcdefgh continues\n"),
);

test.each([
  ["1111 yes", 2, "2 questions match 1111.\nhint: Name one: bbbb1111, aaaa1111."],
  ["bbbb1111", 2, "The answer is missing: a number from 1 to 9"],
  ["none yes", 1, 'There is no question "none".\nhint: List the open questions'],
  ["cccc2222 no", 1, "Ada via Slack answered"],
])("al answer %s exits with %i and prints %j", async (args, code, text) => {
  await cli.fails(`answer ${args}`, text, code);
});
