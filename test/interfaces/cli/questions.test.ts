import pc from "picocolors";
import type { AuditEntryView } from "../../../src/features/people/audit-report.ts";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import { renderAll, renderAudit, renderOpen } from "../../../src/interfaces/cli/operator/people.ts";
import { widthOf } from "../../../src/interfaces/cli/terminal/fit.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { cliProject, problem, snapshotOf } from "./fake-operator.ts";

const cli = cliProject();
const now = new Date(2026, 10, 22, 12, 0, 0).getTime();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const idOf = (end: string) => `0193a1b2-0000-7000-8000-0000${end}`;
const by = { via: "slack", name: "Ada", from: null } as const;
const times = { at: minutesAgo(90), until: minutesAgo(-30) };
const deploy = aQuestionView({
  id: idOf("aaaa1111"),
  ...times,
  prompt: "Deploy 1.4?\nIt's \u001b[2Jlate.",
  gates: ["dev", "ops"],
});
const amount = aQuestionView({
  id: idOf("bbbb1111"),
  ...times,
  agent: "cat",
  instanceId: "cat-abcdefgh",
  prompt: "How many?",
  form: { kind: "number", min: 1, max: 9 },
});
/** Not among the latest. */
const old = aQuestionView({ id: idOf("eeee4444"), ...times });
const ended = aQuestionView({
  id: idOf("cccc2222"),
  ...times,
  instanceId: "dev-zzzzzzzz",
  state: "answered",
  by,
  answer: "yes",
  answeredAt: minutesAgo(10),
});
const expired = aQuestionView({
  id: idOf("dddd3333"),
  ...times,
  state: "expired",
  answer: "no",
  answeredAt: minutesAgo(5),
});
const acts: readonly AuditEntryView[] = [
  {
    id: 2,
    at: minutesAgo(1),
    act: "answer",
    agent: "dev",
    instanceId: "dev-zzzzzzzz",
    by,
    detail: "yes (Deploy 1.4?)",
  },
  {
    id: 1,
    at: minutesAgo(3),
    act: "pause",
    agent: null,
    instanceId: null,
    detail: "",
    by: { via: "key", name: "", from: null },
  },
];

let open: readonly QuestionView[];
let asked: string[];
beforeEach(async () => {
  open = [amount, deploy];
  asked = [];
  const page = (entries: object, query: URLSearchParams) => {
    asked.push(query.toString());
    return { ...entries, next: query.get("limit") === "2" ? 1 : null };
  };
  await cli.serve({
    "GET /control/status": () => snapshotOf([]),
    "GET /api/audit": ({ query }) => page({ entries: query.get("by") === null ? acts : [] }, query),
    "GET /api/questions": ({ query }) =>
      page({ questions: query.get("state") === "settled" ? [ended] : open }, query),
    ...Object.fromEntries(
      [deploy, old].flatMap((one) => [
        [`GET /api/questions/${one.id}`, () => one],
        [
          `POST /api/questions/${one.id}/answer`,
          ({ body }: { body: unknown }) => ({ ...one, ...(body as object) }),
        ],
      ]),
    ),
    [`POST /api/questions/${ended.id}/answer`]: (_asked, response) =>
      problem(response, 409, "answered", 'Ada by Slack answered at noon: "yes"'),
  });
});

test("open questions are a table, on a terminal with the whole question below", () => {
  const style = { colors: pc.createColors(false), now };
  expect(renderOpen(open, { ...style, columns: 40 }).split("\n")).toEqual([
    "Id        Agent  Waits       Until",
    "bbbb1111  cat    1 h 30 min  12:30:00",
    "  How many?",
    "  a number from 1 to 9",
    "aaaa1111  dev    1 h 30 min  12:30:00",
    "  Deploy 1.4?",
    "  It's late.",
    "  (held by the gates of ops, by whose",
    "  call it runs)",
    "  one of: yes, no",
  ]);
  const [, first] = renderOpen([deploy], { ...style, columns: null }).split("\n");
  expect(first).toMatch(/^aaaa1111 .+ one of: yes, no +Deploy 1.4\? It's late\. \(held by .+\)$/);
});

test("all questions and the acts fit a terminal of 80 columns", () => {
  const style = { colors: pc.createColors(false), now, columns: 80 };
  const long = "something that goes on ".repeat(9);
  const questions = [{ ...deploy, prompt: long }, ended, expired];
  expect(renderAll(questions, style).split("\n").slice(1)).toEqual([
    "aaaa1111  dev    10:30:00  open                        something that goes on…",
    "cccc2222  dev    11:50:00  yes           Ada by Slack  Deploy 1.4?",
    "dddd3333  dev    11:55:00  no (default)                Deploy 1.4?",
  ]);
  const audit = renderAudit([{ ...acts[0], detail: long } as AuditEntryView, ...acts], style);
  for (const line of audit.split("\n")) expect(widthOf(line), line).toBeLessThanOrEqual(80);
  expect(audit.split("\n").at(-1)).toMatch(/^11:57:00 {2}al on this machine +pause$/);
});

test.each(["aaaa1111", "a1111", deploy.id, old.id, "dev-abcdefgh"])(
  "al answer takes %s",
  async (id) =>
    expect(await cli.output(["answer", id, "YES"])).toBe("answered YES; dev-abcdefgh continues\n"),
);

test.each([
  [
    ["answer", "1111", "yes"],
    2,
    "2 questions are meant by 1111\nhint: name one: bbbb1111, aaaa1111",
  ],
  [["answer", "bbbb1111"], 2, "the answer is missing: a number from 1 to 9"],
  [["answer", "none", "yes"], 1, "there is no question none\nhint: al questions shows"],
  [["answer", "cccc2222", "no"], 1, 'Ada by Slack answered at noon: "yes"'],
  [["questions", "--agent", "nobody"], 1, 'there is no agent "nobody"'],
])("al %j fails with %i and says why", async (args, code, text) => {
  if (args[0] === "questions") open = [];
  expect(await cli.failure(args, code)).toContain(text);
});

test("without a question or an act, a note says so", async () => {
  open = [];
  expect(await cli.al(["questions"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "no run waits for an answer\n",
  });
  const ran = await cli.al(["audit", "--by", "Ada", "--since", "1970-01-01", "--act", "kill"]);
  expect(ran).toMatchObject({ code: 0, stdout: "", stderr: "no acts match\n" });
  expect(asked.at(-1)).toBe("by=Ada&act=kill&since=1970-01-01T00%3A00%3A00.000Z&limit=20");
});

test("a list that has more says how to see it", async () => {
  const { stderr } = await cli.al(["audit", "-n", "2"]);
  expect(stderr).toBe("more than 2 acts; -n shows up to 200, the dashboard's audit trail all\n");
});

test("--json is the document of the API", async () => {
  expect(await cli.json(["questions", "--all"])).toEqual({ questions: open, next: null });
  expect(await cli.json(["audit"])).toEqual({ entries: acts, next: null });
  expect(asked).toEqual(["limit=50", "limit=20"]);
});
