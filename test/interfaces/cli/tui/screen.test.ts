import fc from "fast-check";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { widthOf } from "../../../../src/interfaces/cli/terminal/fit.ts";
import { drawScreen, shareRows, windowStart } from "../../../../src/interfaces/cli/tui/screen.ts";
import { firstView, moved, selectedIndex } from "../../../../src/interfaces/cli/tui/view-state.ts";
import type { ViewState } from "../../../../src/interfaces/cli/tui/view-state.ts";
import { aLog, ranAgentStatus, aSnapshot, aStyle } from "./statuses.ts";

interface Shown {
  readonly columns?: number;
  readonly rows?: number;
  readonly view?: Partial<ViewState>;
  readonly webUi?: boolean;
  readonly apiKeyPath?: string;
  readonly loginUrl?: string;
  readonly isStopping?: boolean;
}

function show(snapshot: StatusSnapshot, shown: Shown = {}): string[] {
  const { columns = 100, rows = 24, view = {}, webUi = false, isStopping = false } = shown;
  const { apiKeyPath = "~/key", loginUrl = null } = shown;
  const facts = { snapshot, view: { ...firstView, ...view }, webUi, apiKeyPath, isStopping };
  return drawScreen({ ...facts, loginUrl: () => loginUrl }, aStyle(columns, rows));
}

function rowOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.slice(2).startsWith(name)) ?? "";
}

const busy = aSnapshot(
  [
    ranAgentStatus("hello", { state: "running", statusText: "looking at the clock", running: 1 }),
    ranAgentStatus("quiet", { enabled: false, nextRunAt: null }),
    ranAgentStatus("wide", {
      statusText: "状態を日本語で、👨‍👩‍👧 とても長い文章を書いています".repeat(4),
    }),
    ranAgentStatus("late", { queued: 7 }),
    ranAgentStatus("bad", {
      state: "error",
      error:
        'agents/bad/config.toml:4:12  schedule "every day" is not a cron expression; use five fields',
    }),
  ],
  {},
  [aLog(1, "run started manually"), aLog(2, "and more")],
);

test("the header has project name and counts", () => {
  const [first] = show(busy);
  expect(first).toBe("demo · 5 agents · 1 running · 1 with an error · Almanac 0.1.0");
});

test("the header shows the first of the project's warnings, and how many more there are", () => {
  const warnings = ["agents/a  is not an agent", "agents/b  is not an agent"];
  expect(show(aSnapshot([], { warnings }))).toContain(
    "warning agents/a is not an agent (and 1 more)",
  );
});

test("the header shows the dashboard and where its key is", () => {
  const snapshot = aSnapshot([], { gatewayUrl: "http://localhost:8080" });
  const [, place] = show(snapshot, { webUi: true });
  expect(place).toBe("Dashboard: http://localhost:8080/dashboard · API key: ~/key");
});

test("the header shows the login link as long as it is valid, and never cuts it", () => {
  const snapshot = aSnapshot([], { gatewayUrl: "http://localhost:8080" });
  const loginUrl = `http://localhost:8080/login/${"t".repeat(22)}`;
  expect(show(snapshot, { webUi: true, loginUrl })[2]).toBe(`Log in: ${loginUrl}`);
  const narrow = show(snapshot, { webUi: true, loginUrl, columns: 55 });
  expect(narrow.slice(1, 5)).toContain(loginUrl);
  expect(show(snapshot, { webUi: true }).join("\n")).not.toContain("Log in");
});

test("the header cuts neither the dashboard's address nor the place of its key", () => {
  const snapshot = aSnapshot([], { gatewayUrl: "http://localhost:8080" });
  const apiKeyPath = `/tmp/newcomer-home/${"folder/".repeat(12)}gateway_api_key/default/key`;
  const lines = show(snapshot, { webUi: true, columns: 80, apiKeyPath });
  expect(lines[1]).toBe("Dashboard: http://localhost:8080/dashboard");
  expect(lines.slice(2, 5).join("")).toBe(`API key:${apiKeyPath}`);
});

test("the header shows that the dashboard is off, and how to enable it", () => {
  const [, place] = show(aSnapshot([], { gatewayUrl: "http://localhost:8080" }));
  expect(place).toContain("http://localhost:8080 · no dashboard (al start --web-ui");
});

test("the header shows the errors of the project's config", () => {
  const lines = show(aSnapshot([], { error: "config.toml:3:1  unknown provider" }));
  expect(lines[2]).toBe("error config.toml:3:1 unknown provider");
});

test("the agents have state, status, last run, duration, next run, cost and queue", () => {
  const lines = show(busy);
  expect(lines[2]).toMatch(/Agent +State +Status +Last Run +Duration +Next Run +Cost Today +Queue/);
  expect(rowOf(lines, "hello")).toMatch(
    /^> hello +running +looking at the clock +1 min ago +1 min 05 s +in 1 min$/,
  );
  expect(rowOf(lines, "late")).toMatch(/ 7$/);
  expect(rowOf(lines, "quiet")).toContain("disabled");
});

test("the agents show paused instead of a next run that will be skipped", () => {
  const lines = show(aSnapshot([ranAgentStatus("hello")], { paused: true }));
  expect(lines[0]).toContain("demo · schedules paused");
  expect(rowOf(lines, "hello")).toContain("paused");
  expect(rowOf(lines, "hello")).not.toContain("in 1 min");
});

test("the agents lose columns on a narrow terminal, the next run last", () => {
  const [, , head] = show(busy, { columns: 60 });
  expect(head).toContain("Next Run");
  expect(head).not.toContain("Duration");
});

test("the agents show the error of the selected one in full", () => {
  const lines = show(busy, { columns: 60, view: { selected: "bad" } });
  expect(lines.join(" ")).toContain("is not a cron expression; use five fields");
  expect(rowOf(lines, "bad")).toMatch(/^> bad/);
});

test("the agents never show control sequences", () => {
  const evil = "\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\r\n next";
  const status = ranAgentStatus("hello", { statusText: evil, state: "error", error: evil });
  const text = show(aSnapshot([status], { error: evil }, [aLog(1, evil)])).join("\n");

  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("the agents with a long name leave room for the log's text", () => {
  const name = "an-agent-with-".padEnd(63, "long-name-");
  const log = { ...aLog(1, "the session starts"), agent: name };
  const lines = show(aSnapshot([ranAgentStatus(name)], {}, [log]), { columns: 80 });
  expect(lines.join("\n")).toMatch(/INFO {2}an-agent-with-long-…? the session starts/);
});

test("the agents are missing at first: the screen names the first step", () =>
  expect(show(aSnapshot([])).join("\n")).toContain("al agent new"));

test("the last line has the keys, and the exit key even in little room", () => {
  expect(show(busy).at(-1)).toBe("q quit  enter log  r run  p pause  K kill");
  expect(show(busy, { columns: 20 }).at(-1)).toBe("q quit  enter log  …");
});

test("the last line asks before it ends runs", () => {
  const question = { command: "kill", agent: "hello" } as const;
  expect(show(busy, { view: { question } }).at(-1)).toBe("End the run of hello? y/n");
});

test("the last line names the runs that a stop waits for", () => {
  const text = "Stopping (Ctrl-C: now): waits for 1 run: hello";
  expect(show(busy, { isStopping: true }).at(-1)).toBe(text);
});

const agents = (...names: readonly string[]) => names.map((name) => ({ name }));
const abc = agents("a", "b", "c");

test("the selection moves and stops at both ends", () => {
  const last = moved(firstView, 9, abc);
  expect(last).toMatchObject({ selected: "c", index: 2 });
  expect(moved(last, 1, abc)).toMatchObject({ selected: "c" });
  expect(moved(last, -9, abc)).toMatchObject({ selected: "a" });
  expect(moved(firstView, 1, []).selected).toBeNull();
});

test("the selection stays with its agent when others come, and moves to the next one when it goes", () => {
  const view = moved(firstView, 1, abc);
  expect(selectedIndex(view, agents("0", "a", "a2", "b"))).toBe(3);
  expect(selectedIndex(view, agents("a", "c"))).toBe(1);
  expect(selectedIndex(view, agents("a"))).toBe(0);
  expect(selectedIndex(view, [])).toBe(0);
});

test("the selection stays in the middle of the rows, except near the ends", () => {
  expect([0, 2, 3, 5, 9].map((index) => windowStart(index, 5, 10))).toEqual([0, 0, 1, 3, 5]);
  expect(windowStart(1, 5, 2)).toBe(0);
});

test("every size is filled exactly, and shows the selected row", () => {
  const many = Array.from({ length: 300 }, (_, index) => ranAgentStatus(`agent-${index}`));
  const snapshot = aSnapshot(
    [...busy.agents, ...many],
    { error: "x".repeat(300) },
    busy.recentLogs,
  );
  const sizes = fc.tuple(fc.integer({ min: 20, max: 220 }), fc.integer({ min: 3, max: 70 }));
  fc.assert(
    fc.property(sizes, fc.constantFrom(...snapshot.agents), ([columns, rows], { name }) => {
      const lines = show(snapshot, { columns, rows, view: { selected: name } });
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      if (rows >= 5) expect(lines.some((line) => line.startsWith("> "))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("a thousand agents cost little more than a screenful", () => {
  const agents = Array.from({ length: 1000 }, (_, index) => ranAgentStatus(`agent-${index}`));
  const snapshot = aSnapshot(agents);
  show(snapshot);
  const before = process.threadCpuUsage();
  for (let round = 0; round < 20; round++) show(snapshot, { columns: 200, rows: 60 });
  // There may be a frame each 100 ms.
  expect(process.threadCpuUsage(before).user / 1000 / 20).toBeLessThan(50);
});

test("rows go to the table first, then to the selected agent and the log", () => {
  const wanted = { table: 4, detail: 2, log: 20 };
  expect(shareRows(5, wanted)).toEqual({ table: 5, detail: 0, log: 0 });
  expect(shareRows(20, wanted)).toEqual({ table: 4, detail: 2, log: 14 });
  expect(shareRows(20, { ...wanted, table: 1001 })).toEqual({ table: 12, detail: 2, log: 6 });
});
