import pc from "picocolors";
import type { TraceStep, TraceView } from "../../../src/runtime/runs/trace-view.ts";
import { renderTrace } from "../../../src/interfaces/cli/status/render-trace.ts";
import { renderRun } from "../../../src/interfaces/cli/status/render-run.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { agentsOf, cliProject, refusal } from "./fake-operator.ts";

const cli = cliProject();

const version = { hash: "b".repeat(32), commit: "c".repeat(40), dirty: true };
const text = '--- dev-aaaaaaaa/config.json\n+++ b\n@@ -1 +1 @@\n-  "scale": 1\n+  "scale": 2\n';
const difference = {
  from: { instanceId: "dev-aaaaaaaa", version: { hash: "a", commit: null, dirty: null } },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text,
};
const unknown = refusal(404, "unknown_instance", "there is no such run");
const runs = "GET /api/runs/";
const triggers = "GET /api/stats/triggers";

test("al show prints a run with its prompt, version, calls, hosts and result", () => {
  const lastAt = "2026-11-22T12:00:00.000Z";
  const reached = {
    port: 443,
    denied: null,
    connections: 1,
    bytesOut: 512,
    bytesIn: 3 * 1024 ** 2,
  };
  const denied = { ...reached, port: 8443, denied: "not_allowed", connections: 3 } as const;
  const time = (minute: number) => new Date(2026, 10, 20, 6, minute).toISOString();
  const lastSuccess = { instanceId: "dev-aaaaaaaa", at: time(26) };
  const run = aRunView("dev-bbbbbbbb", {
    version,
    payload: '{\n  "title": "\u001b[2Jhi"\n2\n3\n4\n5\n6\n}',
    lastSuccess: { instanceId: "dev-aaaaaaaa", changed: true },
    failing: {
      instanceId: "dev-bbbbbbbb",
      count: 1078,
      newest: false,
      since: time(33),
      lastSuccess,
      changed: ["config", "instructions"],
    },
    calls: {
      received: null,
      made: [historyEntry({ id: "1", agent: "cat", instanceId: "cat-aaaaaaaa" })],
    },
    hosts: [
      { ...denied, host: "api.evil.test", lastAt },
      ...Array.from({ length: 26 }, (_, n) => ({ ...reached, host: `h${n}.test`, lastAt })),
    ],
    value: { ok: true },
    lastWords: "Done.\u001b[2J\nBye.",
  });
  const style = { colors: pc.createColors(false), columns: null, now: Date.parse(lastAt) };
  const text = renderRun(run, style);
  for (const lines of [
    /^dev-bbbbbbbb succeeded\nCost {10}\$0\.01 in 2 calls\nDuration {6}0 ms\nReturned {6}\{\n {16}"ok": true\n {14}\}\nLast words {4}Done\.\n {14}Bye\.\nStreak /,
    /^Payload {7}\{\n {16}"title": "hi"\n {14}2\n {14}3\n {14}4\n {14}5\n {14}… 2 more lines: al show dev-bbbbbbbb --payload$/m,
    /^Version {7}bbbbbbbbbbbb\nCommit {8}cccccccccccc with changes$/m,
    /^Streak {8}had been failing since 2026-11-20 06:33:00, 1,078 in a row; last success 2026-11-20 06:26:00; config and instructions changed in between$/m,
    /^Last success {2}dev-aaaaaaaa; changed since then: al show dev-bbbbbbbb --diff$/m,
    /^Calls {9}cat succeeded cat-aaaaaaaa$/m,
    /^Denied {8}api\.evil\.test:8443 is not in \[network\]\.allow, 3 times$/m,
    /^Reached {7}h0\.test 512 bytes out, 3\.0 MiB in$[^]*^ +and 6 more$/m,
  ])
    expect(text).toMatch(lines);
  expect(text).not.toContain("\u001b");
});

test("al show of an agent prints its latest run, and config changes before that run", async () => {
  await cli.serve({
    [`${runs}dev`]: unknown,
    [`${runs}dev/diff`]: unknown,
    [triggers]: {
      triggers: [
        historyEntry({ id: "2", instanceId: null, outcome: "skipped" }),
        historyEntry({ id: "1", instanceId: "dev-bbbbbbbb" }),
      ],
    },
    [`${runs}dev-bbbbbbbb`]: aRunView("dev-bbbbbbbb"),
    [`${runs}dev-bbbbbbbb/diff`]: difference,
  });
  await cli.prints("show dev", /^dev-bbbbbbbb /);
  expect(await cli.output("show dev --diff")).toContain('+  "scale": 2');
});

test("al show --prompt prints the prompt that the model received", async () => {
  let asked = "";
  await cli.serve({
    [`${runs}dev-bbbbbbbb`]: ({ query }) => {
      asked = query.toString();
      return aRunView("dev-bbbbbbbb", { modelPrompt: "System prompt:\n\nBe \u001b[2Jbrief." });
    },
  });
  await cli.prints("show dev-bbbbbbbb --prompt", "System prompt:\n\nBe brief.\n");
  expect(asked).toBe("modelPrompt=true");
});

test("al show --payload prints the whole payload, or that there is none", async () => {
  const { routes } = await cli.serve({
    [`${runs}dev-bbbbbbbb`]: aRunView("dev-bbbbbbbb", { payload: "{\n1\n2\n3\n4\n5\n6\n}" }),
  });
  await cli.prints("show dev-bbbbbbbb --payload", "{\n1\n2\n3\n4\n5\n6\n}\n");
  routes[`${runs}dev-bbbbbbbb`] = aRunView("dev-bbbbbbbb");
  expect(await cli.al("show dev-bbbbbbbb --payload")).toMatchObject({ code: 0, stdout: "" });
});

const at = (second: number) => new Date(second * 1000).toISOString();
const aStep = (given: Partial<TraceStep>): TraceStep => ({
  kind: "tool",
  name: "start",
  at: at(0),
  durationMs: 1_000,
  tokens: null,
  usd: null,
  failure: null,
  position: null,
  ...given,
});
const trace: TraceView = {
  instanceId: "dev-bbbbbbbb",
  at: at(0),
  until: at(10),
  isOver: false,
  steps: [
    aStep({ kind: "start" }),
    aStep({
      kind: "model",
      name: "turn 1: haiku",
      at: at(1),
      durationMs: 4e3,
      tokens: 12_000,
      usd: 0.25,
    }),
    aStep({
      name: "bash: \u001b[2Jgit log --oneline --all",
      at: at(5),
      durationMs: 0,
      failure: "exit 7",
    }),
    aStep({ kind: "question", name: "Deploy?", at: at(6), durationMs: null }),
  ],
  leftOut: { after: 3, count: 340, tokens: 9, usd: 1 },
  firstError: null,
  isWhole: true,
};

test("al show --trace draws the steps of a run as wide as the terminal", () => {
  const drawn = (columns: number) =>
    renderTrace(trace, { colors: pc.createColors(false), columns }).split("\n");
  expect(drawn(80)).toEqual([
    "Step                          0 – 10 s                  Time     Tokens  Cost",
    "start                         ██                          1.0 s",
    "turn 1: haiku                   ██████████                4.0 s  12,000  $0.25",
    "  bash: git log --oneline -…              █                0 ms",
    "… 340 more steps                                                      9  $1.00",
    "  Deploy?                                   ░░░░░░░░░░  4.0 s …",
  ]);
  expect(drawn(120)[3]).toMatch(/^ {2}bash: git log --oneline --all: exit 7 {20}█ {21}0 ms$/);
});

test("al show --trace prints the steps of an agent's latest run, or all data of them as JSON", async () => {
  await cli.serve({ [`${runs}dev-bbbbbbbb/trace`]: trace });
  await cli.prints("show dev-bbbbbbbb --trace", /bash: git log --oneline --all: exit 7 /);
  expect(await cli.json("show dev-bbbbbbbb --trace")).toEqual(trace);
});

test("al show --diff prints the changes since the last successful run, or since another one", async () => {
  const queries: string[] = [];
  const { routes } = await cli.serve({
    ...agentsOf("dev"),
    [`${runs}dev-bbbbbbbb/diff`]: ({ query }) => {
      queries.push(query.toString());
      return difference;
    },
    [`${runs}dev-aaaaaaaa`]: aRunView("dev-aaaaaaaa"),
    [`${runs}dv`]: unknown,
    [triggers]: { triggers: [] },
  });
  expect(await cli.al("show dev-bbbbbbbb --diff")).toEqual({
    code: 0,
    stdout: text,
    stderr: "what changed from dev-aaaaaaaa to dev-bbbbbbbb (commit cccccccccccc with changes)\n",
  });
  expect(await cli.json("show dev-bbbbbbbb --diff dev-aaaaaaaa")).toEqual(difference);
  expect(queries).toEqual(["", "to=dev-aaaaaaaa"]);
  await cli.fails("show dev-bbbbbbbb --diff dv", 'did you mean "dev"?');
  routes[`${runs}dev-bbbbbbbb/diff`] = { ...difference, changed: false, text: "" };
  const same = await cli.al("show dev-bbbbbbbb --diff");
  expect(same).toMatchObject({ code: 0, stdout: "" });
  expect(same.stderr).toMatch(/^nothing changed from dev-aaaaaaaa to dev-bbbbbbbb/);
});

test.each([
  ["dve", 'did you mean "dev"?'],
  ["dev", 'agent "dev" has no run among its latest 200 history entries'],
  ["dev-cccccccc", "al history lists the runs with their instance ids"],
])("al show %s, an unknown run, suggests what to do", async (id, hint) => {
  await cli.serve({
    ...agentsOf("dev"),
    [`${runs}${id}`]: unknown,
    [triggers]: { triggers: [] },
  });
  await cli.fails(`show ${id}`, hint);
});
