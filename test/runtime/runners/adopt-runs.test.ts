import { EMPTY, of } from "rxjs";
import { adoptRuns } from "../../../src/runtime/runners/adopt-runs.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

const agent = anAgent("dev", { timeoutSeconds: 7 });
const facts = { item: anItem("1"), startedAt: 5, waitedMs: 2, leftByStop: true };
const open = ["dev-1", "dev-2"].map((instanceId) => ({ ...facts, instanceId }));

const line = (msg: string, kind: string, more: object = {}): LogEntry => ({
  ...more,
  level: 30,
  time: 9,
  msg,
  agent: "dev",
  instanceId: "dev-1",
  kind,
});
const logsOf = (...entries: readonly LogEntry[]) => ({
  read: ({ lines }: { readonly lines: number }) =>
    Promise.resolve(entries.slice(-lines).map((entry) => ({ id: "", entry }))),
});

/** Adopts the runs with a runner that finds dev-1 only; with the line after which it goes on, if it does. */
async function adopted(logs: Parameters<typeof adoptRuns>[2], more: object = {}) {
  const resumed: (string | null)[] = [];
  const runtime = {
    adopt: (ids: readonly string[]) =>
      Promise.resolve(ids.includes("dev-1") ? [{ instanceId: "dev-1", agent }] : []),
    resume: ({ last }: { readonly last: LogEntry | null }) => {
      resumed.push(last?.msg ?? null);
      return of(exitWith());
    },
    ...more,
  };
  const runs = await adoptRuns(open, [runtime], logs);
  runs[0]?.report(EMPTY).subscribe();
  return { runs, resumed };
}

test("a restarted scheduler adopts only runs that their runtime finds alive, with the config that they started with", async () => {
  const { runs } = await adopted(logsOf());
  const { item, ...others } = facts;
  expect(runs).toMatchObject([{ request: { instanceId: "dev-1", agent, item }, ...others }]);
  expect(runs).toHaveLength(1);
});

const started = line("run started manually", "run", { trigger: { kind: "manual" } });
const goesOn = line("run goes on", "run", { trigger: { kind: "manual" } });
const ended = line("run succeeded", "run", { outcome: "succeeded" });
const denied = line("denied", "network", { scheduler: true });

test.each([
  ["after its last logged line", "said", logsOf(started, line("said", "said"), goesOn, denied)],
  [
    'after "session starts"',
    "session starts",
    logsOf(started, line("session starts", "run"), goesOn, goesOn, ended),
  ],
  ["from its beginning, if the log has no line of it", null, logsOf(started)],
  [
    "from its beginning, if there is no log",
    null,
    { read: () => Promise.reject(new Error("no log")) },
  ],
])("an adopted run resumes %s", async (_where, last, logs) =>
  expect((await adopted(logs)).resumed).toEqual([last]),
);

test("the last line of an adopted run is found before 200 later lines of the scheduler", async () => {
  const many = Array.from({ length: 200 }, () => line("denied", "network"));
  const logs = logsOf(line("its last", "process", { seq: 3 }), ...many);
  const isOwnLine = ({ seq }: LogEntry) => seq !== undefined;
  expect((await adopted(logs, { isOwnLine })).resumed).toEqual(["its last"]);
});
