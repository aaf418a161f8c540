import { EMPTY, of } from "rxjs";
import { adoptRuns } from "../../../src/runtime/runners/adopt-runs.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

const agent = anAgent("dev", { timeoutSeconds: 7 });
const open = ["dev-1", "dev-2"].map((instanceId) => ({
  item: anItem("1"),
  instanceId,
  startedAt: 5,
  waitedMs: 2,
  leftByStop: true,
}));

const line = (msg: string, kind: string, more: object = {}): LogEntry => ({
  ...more,
  level: 30,
  time: 9,
  msg,
  agent: "dev",
  instanceId: "dev-1",
  kind,
});

/** A runner that finds dev-1 only, and notes from which line it goes on. */
function hostUser(resumed: (string | null)[]) {
  return {
    adopt: (ids: readonly string[]) =>
      Promise.resolve(ids.includes("dev-1") ? [{ instanceId: "dev-1", agent }] : []),
    resume: ({ last }: { readonly last: LogEntry | null }) => {
      resumed.push(last?.msg ?? null);
      return of(exitWith());
    },
  };
}

const logsOf = (...entries: readonly LogEntry[]) => ({
  read: () => Promise.resolve(entries.map((entry) => ({ id: "", entry }))),
});

test("only runs that the runtime finds are adopted, with their own config", async () => {
  const adopted = await adoptRuns(open, [hostUser([])], logsOf());
  const request = { instanceId: "dev-1", agent, item: anItem("1") };
  expect(adopted).toMatchObject([{ request, startedAt: 5, waitedMs: 2, leftByStop: true }]);
  expect(adopted.map(({ request }) => request.instanceId)).toEqual(["dev-1"]);
});

test("an adopted run resumes after its own last line", async () => {
  const resumed: (string | null)[] = [];
  const started = line("run started manually", "run", { trigger: { kind: "manual" } });
  const goesOn = line("run goes on", "run", { trigger: { kind: "manual" } });
  const ended = line("run succeeded", "run", { outcome: "succeeded" });
  const logs = [
    logsOf(started, line("said", "said"), goesOn, line("denied", "network", { scheduler: true })),
    logsOf(started, line("session starts", "run"), goesOn, goesOn, ended),
    logsOf(started),
    { read: () => Promise.reject(new Error("no log")) },
  ];
  for (const source of logs) {
    const [run] = await adoptRuns(open, [hostUser(resumed)], source);
    run?.report(EMPTY).subscribe();
  }
  expect(resumed).toEqual(["said", "session starts", null, null]);
});

test("an adopted run's last line is found behind many lines of the scheduler, by a mark of its runtime", async () => {
  const numbered = line("its last", "process", { seq: 3 });
  const lines = [numbered, ...Array.from({ length: 200 }, () => line("denied", "network"))];
  const read = ({ lines: count }: { readonly lines: number }) =>
    Promise.resolve(lines.slice(-count).map((entry) => ({ id: "", entry })));
  const resumed: (string | null)[] = [];
  const runtime = { ...hostUser(resumed), isOwnLine: ({ seq }: LogEntry) => seq !== undefined };
  const [run] = await adoptRuns(open, [runtime], { read });
  run?.report(EMPTY).subscribe();
  expect(resumed).toEqual(["its last"]);
});
