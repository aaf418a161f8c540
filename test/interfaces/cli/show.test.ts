import pc from "picocolors";
import type { TraceStep, TraceView } from "../../../src/runtime/runs/trace-view.ts";
import { renderTrace } from "../../../src/interfaces/cli/status/render-trace.ts";
import { renderRun } from "../../../src/interfaces/cli/status/render-run.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

const version = { hash: "b".repeat(32), commit: "c".repeat(40), dirty: true };
const text = '--- dev-aaaaaaaa/config.json\n+++ b\n@@ -1 +1 @@\n-  "scale": 1\n+  "scale": 2\n';
const difference = {
  from: { instanceId: "dev-aaaaaaaa", version: { hash: "a", commit: null, dirty: null } },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text,
};
const runs = "GET /api/runs/";

test("al show prints a run with its prompt, version, calls, hosts and result", () => {
  const lastAt = new Date(2026, 10, 22, 12).toISOString();
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
    scheduledFor: time(33),
    startedAt: time(34),
    endedAt: time(35),
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
  return expect(`${text}\n`).toMatchFileSnapshot("show.txt");
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

test("al show --payload prints the whole payload, and no data for a run without a payload", async () => {
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
    [`${runs}dev-bbbbbbbb/diff`]: ({ query }) => {
      queries.push(query.toString());
      return difference;
    },
    [`${runs}dev-aaaaaaaa`]: aRunView("dev-aaaaaaaa"),
  });
  expect(await cli.al("show dev-bbbbbbbb --diff")).toEqual({
    code: 0,
    stdout: text,
    stderr: "what changed from dev-aaaaaaaa to dev-bbbbbbbb (commit cccccccccccc with changes)\n",
  });
  expect(await cli.json("show dev-bbbbbbbb --diff dev-aaaaaaaa")).toEqual(difference);
  expect(queries).toEqual(["", "to=dev-aaaaaaaa"]);
  routes[`${runs}dev-bbbbbbbb/diff`] = { ...difference, changed: false, text: "" };
  const same = await cli.al("show dev-bbbbbbbb --diff");
  expect(same).toMatchObject({ code: 0, stdout: "" });
  expect(same.stderr).toMatch(/^nothing changed from dev-aaaaaaaa to dev-bbbbbbbb/);
});
