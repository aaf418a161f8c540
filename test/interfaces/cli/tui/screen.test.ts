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
  const { columns = 100, rows = 24, webUi = true, isStopping = false } = shown;
  const { apiKeyPath = "~/key", loginUrl = null } = shown;
  const view = { ...firstView, ...shown.view };
  const facts = { snapshot, view, webUi, apiKeyPath, isStopping, loginUrl: () => loginUrl };
  return drawScreen(facts, aStyle(columns, rows));
}

function rowOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.slice(2).startsWith(name)) ?? "";
}

const error =
  'agents/bad/config.toml:4:12  schedule "every day" is not a cron expression; use five fields';
const busy = aSnapshot(
  [
    ranAgentStatus("hello", { state: "running", statusText: "looking at the clock", running: 1 }),
    ranAgentStatus("wide", {
      statusText: "状態を日本語で、👨‍👩‍👧 とても長い文章を書いています".repeat(4),
    }),
    ranAgentStatus("late", { queued: 7 }),
    ranAgentStatus("bad", { state: "error", error }),
  ],
  {},
  [aLog(1, "run started manually"), aLog(2, "and more")],
);
const gatewayUrl = "http://localhost:8080";
const served = aSnapshot([], { gatewayUrl });

describe("the header of the live view", () => {
  test.each([
    ["project name and counts", busy, {}, "project · 4 agents · 1 running · 1 with an error"],
    [
      "the first of the project's warnings, and how many more there are",
      aSnapshot([], { warnings: ["agents/a  is not an agent", "agents/b  is not an agent"] }),
      {},
      "warning agents/a is not an agent (and 1 more)\n",
    ],
    [
      "the errors of the project's config",
      aSnapshot([], { error: "config.toml:3:1  unknown provider" }),
      {},
      "error config.toml:3:1 unknown provider\n",
    ],
    [
      "the dashboard's address and where its key is stored",
      served,
      {},
      `Dashboard: ${gatewayUrl}/dashboard · API key: ~/key\n`,
    ],
    [
      "that the dashboard is off, and how to enable it",
      served,
      { webUi: false },
      `${gatewayUrl} · no dashboard (al start --web-ui`,
    ],
    [
      "that schedules are paused",
      aSnapshot([], { paused: true }),
      {},
      "project · schedules paused",
    ],
  ])("shows %s", (_what, snapshot, shown, text) =>
    expect(show(snapshot, shown).join("\n")).toContain(text),
  );

  test("shows the login link as long as it is valid, and never cuts it", () => {
    const loginUrl = `${gatewayUrl}/login/${"t".repeat(22)}`;
    expect(show(served, { loginUrl })[2]).toBe(`Log in: ${loginUrl}`);
    expect(show(served, { loginUrl, columns: 55 }).slice(1, 5)).toContain(loginUrl);
    expect(show(served).join("\n")).not.toContain("Log in");
  });

  test("cuts neither the dashboard's address nor the path of its key", () => {
    const apiKeyPath = `/tmp/newcomer-home/${"folder/".repeat(12)}gateway_api_key/default/key`;
    const [, address, ...more] = show(served, { columns: 80, apiKeyPath });
    expect(address).toBe(`Dashboard: ${gatewayUrl}/dashboard`);
    expect(more.slice(0, 3).join("")).toBe(`API key:${apiKeyPath}`);
  });
});

describe("the rows of agents in the live view", () => {
  test("show state, status, last run, duration, next run, cost and queue", () => {
    const lines = show(busy);
    expect(lines[2]).toMatch(
      /Agent +State +Status +Last Run +Duration +Next Run +Cost Today +Queue/,
    );
    expect(rowOf(lines, "hello")).toMatch(
      /^> hello +running +looking at the clock +1 min ago +1 min 05 s +in 1 min$/,
    );
    expect(rowOf(lines, "late")).toMatch(/ 7$/);
  });

  test("lose columns on a narrow terminal, the next run last", () => {
    const [, , head] = show(busy, { columns: 60 });
    expect(head).toMatch(/^(?!.*Duration).*Next Run/);
  });

  test("show the error of the selected one in full", () => {
    const lines = show(busy, { columns: 60, view: { selected: "bad" } });
    expect(lines.join(" ")).toContain("is not a cron expression; use five fields");
    expect(rowOf(lines, "bad")).toMatch(/^> bad/);
  });

  test("have long names cut, also in the log", () => {
    const name = "an-agent-with-".padEnd(63, "long-name-");
    const log = { ...aLog(1, "the session starts"), agent: name };
    const lines = show(aSnapshot([ranAgentStatus(name)], {}, [log]), { columns: 80 });
    expect(lines.join("\n")).toMatch(/INFO {2}an-agent-with-long-…? the session starts/);
  });

  test("are replaced by the first step while there are none", () =>
    expect(show(aSnapshot([])).join("\n")).toContain("al agent new"));
});

test.each<[string, Shown, string]>([
  ["shows the keys", {}, "q quit  enter log  r run  p pause  K kill"],
  ["shows the exit key on a narrow terminal", { columns: 20 }, "q quit  enter log  …"],
  [
    "asks before it ends runs",
    { view: { question: { command: "kill", agent: "hello" } } },
    "End the run of hello? y/n",
  ],
  [
    "names the runs that a stop waits for",
    { isStopping: true },
    "Stopping (Ctrl-C: now): waits for 1 run: hello",
  ],
])("the last line of the live view %s", (_what, shown, text) =>
  expect(show(busy, shown).at(-1)).toBe(text),
);

const agents = (names: string) => Array.from(names, (name) => ({ name }));
const abc = agents("abc");

test("the selection in the live view stops at the first and the last agent", () => {
  const last = moved(firstView, 9, abc);
  expect(last).toMatchObject({ selected: "c", index: 2 });
  expect(moved(last, 1, abc).selected).toBe("c");
  expect(moved(last, -9, abc).selected).toBe("a");
  expect(moved(firstView, 1, []).selected).toBeNull();
});

test.each([
  ["0aAb", 3],
  ["ac", 1],
  ["a", 0],
  ["", 0],
])("after the agents abc with b selected become %j, selectedIndex returns %i", (names, index) =>
  expect(selectedIndex(moved(firstView, 1, abc), agents(names))).toBe(index),
);

test("the selected row of the live view stays in the middle, except near the ends", () => {
  expect([0, 2, 3, 5, 9].map((index) => windowStart(index, 5, 10))).toEqual([0, 0, 1, 3, 5]);
  expect(windowStart(1, 5, 2)).toBe(0);
});

const many = Array.from({ length: 1000 }, (_, index) => ranAgentStatus(`agent-${index}`));

test("the live view fills every size exactly, and shows the selected row", () => {
  const all = [...busy.agents, ...many.slice(0, 300)];
  const snapshot = aSnapshot(all, { error: "x".repeat(300) }, busy.recentLogs);
  const sizes = fc.tuple(fc.integer({ min: 20, max: 220 }), fc.integer({ min: 3, max: 70 }));
  fc.assert(
    fc.property(sizes, fc.constantFrom(...all), ([columns, rows], { name }) => {
      const lines = show(snapshot, { columns, rows, view: { selected: name } });
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      if (rows >= 5) expect(lines.some((line) => line.startsWith("> "))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("the live view renders only visible rows of a thousand agents", () => {
  let read = 0;
  const counted = many.map((agent) =>
    Object.defineProperty({ ...agent }, "statusText", { get: () => (read++, null) }),
  );
  show(aSnapshot(counted), { rows: 60 });
  expect(read).toBeLessThan(150);
});

test("shareRows assigns rows to the table first, then to the selected agent and the log", () => {
  const wanted = { table: 4, detail: 2, log: 20 };
  expect(shareRows(5, wanted)).toEqual({ table: 5, detail: 0, log: 0 });
  expect(shareRows(20, wanted)).toEqual({ table: 4, detail: 2, log: 14 });
  expect(shareRows(20, { ...wanted, table: 1001 })).toEqual({ table: 12, detail: 2, log: 6 });
});
