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
  test("have long names cut, also in the log", () => {
    const name = "an-agent-with-".padEnd(63, "long-name-");
    const log = { ...aLog(1, "the session starts"), agent: name };
    const lines = show(aSnapshot([ranAgentStatus(name)], {}, [log]), { columns: 80 });
    expect(lines.join("\n")).toMatch(/INFO {2}an-agent-with-long-…? the session starts/);
  });
});

test("the live view draws schedulers, agents and questions as in the fixture", async () => {
  const warnings = ["agents/a  is not an agent", "agents/b  is not an agent"];
  const drawn = [
    show(busy),
    show(busy, { columns: 60, view: { selected: "bad" } }),
    show(busy, { columns: 20 }),
    show(busy, { view: { question: { command: "kill", agent: "hello" } } }),
    show(busy, { isStopping: true }),
    show(served),
    show(served, { webUi: false }),
    show(aSnapshot([], { warnings })),
    show(aSnapshot([], { error: "config.toml:3:1  unknown provider", paused: true })),
  ];
  const text = drawn.map((lines) => lines.map((line) => line.trimEnd()).join("\n"));
  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot("screen.txt");
});

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
