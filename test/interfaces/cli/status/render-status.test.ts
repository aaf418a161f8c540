import pc from "picocolors";
import { renderStatus } from "../../../../src/interfaces/cli/status/render-status.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import { snapshotOf } from "../fake-operator.ts";

const now = Date.UTC(2026, 0, 5, 12);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const plainStyle = { colors: pc.createColors(false), columns: null, now };

const long = "agents/review-everything/config.toml:4:12  schedule is not a cron expression";
const snapshot = snapshotOf(
  [
    anAgentStatus("dev", {
      state: "running",
      running: 1,
      statusText: "reading the issue\nand thinking",
      lastRunAt: ago(90),
      lastDurationMs: 4200,
      nextRunAt: ago(-30),
    }),
    anAgentStatus("review-everything", { state: "error", error: long }),
    anAgentStatus("off", { enabled: false, nextRunAt: ago(-30), queued: 2 }),
  ],
  {
    startedAt: ago(3600),
    running: 1,
    gatewayUrl: "http://localhost:80",
    paused: true,
    pausedAt: ago(300),
  },
);

test("al stat shows the running scheduler, since when and where", () => {
  const [head, paused] = renderStatus(snapshot, plainStyle).split("\n");
  expect(head).toBe("project · started 1 h ago · 1 running · http://localhost:80");
  expect(paused).toBe(
    "Schedules were paused 5 min ago. Scheduled runs are skipped. Other work runs. Resume with al resume.",
  );
});

test("al stat shows that it stops, without a next run", () => {
  const [head, note, , ...rows] = renderStatus(
    { ...snapshot, scheduler: { ...snapshot.scheduler, draining: true } },
    plainStyle,
  ).split("\n");
  expect(head).toContain("1 running");
  expect(note).toBe("Stopping: nothing is started any more, running runs get their grace period.");
  expect(rows.join("\n")).not.toMatch(/ in 30 s|paused/);
});

test("al stat shows an agent as the dashboard does", () => {
  const row = renderStatus(snapshot, plainStyle).match(/^dev .*$/m)?.[0];
  expect(row).toMatch(
    /^dev +running +reading the issue and thinking +1 min ago +1 min 30 s +paused$/,
  );
  const goesOn = { ...snapshot, scheduler: { ...snapshot.scheduler, paused: false } };
  expect(renderStatus(goesOn, plainStyle)).toMatch(/^dev .* in 30 s$/m);
});

test("al stat shows why an agent is blocked or waits", () => {
  const agents = [
    anAgentStatus("dev", { state: "waiting", blockedBy: "lock", running: 1 }),
    anAgentStatus("ops", { state: "blocked", blockedBy: "image", error: "no base image" }),
  ];
  const text = renderStatus(snapshotOf(agents), plainStyle);
  expect(text).toMatch(/^dev +waiting: lock$/m);
  expect(text).toMatch(/^ops +blocked: image +no base image$/m);
});

test("al stat shows a disabled agent with its queue and no next run", () => {
  const row = renderStatus(snapshot, plainStyle).match(/^off .*$/m)?.[0];
  expect(row).toMatch(/^off +idle +disabled, 2 queued$/);
});

test("al stat shows that an agent is off by its own config", () => {
  const off = anAgentStatus("off", { enabled: false, scale: 0 });
  expect(renderStatus(snapshotOf([off]), plainStyle)).toMatch(
    /^off +idle +disabled by scale = 0$/m,
  );
});

test("al stat shows an agent's spending today if there is room", () => {
  const spentToday = { usd: 1.25, endsAt: new Date(plainStyle.now + 1).toISOString() };
  const paid = snapshotOf([anAgentStatus("dev", { spentToday })]);
  expect(renderStatus(paid, plainStyle)).toMatch(/Cost Today\ndev .* \$1\.25$/m);
  const narrow = renderStatus(paid, { ...plainStyle, columns: 60 });
  expect(narrow).toMatch(/Next Run$/m);
  expect(narrow).not.toContain("Cost");
});

test("al stat shows the cost of running runs, and how to raise a used-up budget", () => {
  const endsAt = new Date(plainStyle.now + 7_200_000).toISOString();
  const day = { scope: "agent:dev", window: "2026-11-22", endsAt, usd: 5, limit: 5 } as const;
  const agents = [
    anAgentStatus("dev", {
      usedBudget: { ...day, onLimit: "pause" },
      error: "over budget: the call needs more",
      lastOutcome: "over_budget",
    }),
    anAgentStatus("ops", { running: 1, runningUsd: 0.05, statusText: "reading" }),
  ];
  const text = renderStatus(snapshotOf(agents), plainStyle);
  const waits = "waits for money: $5.00 of its $5.00 a day is spent; the next day begins in 2 h";
  expect(text).toMatch(/^dev +idle +waits for money/m);
  expect(text).toMatch(/^ops +idle +now \$0\.05: reading/m);
  expect(text).not.toContain("the call needs more");
  expect(text).toContain(`warning dev ${waits}. Raise it: al budget raise dev <usd>`);
});

test.each([60, 80, 100, 200])("fits into %i columns, and shows errors in full below", (columns) => {
  const lines = renderStatus(snapshot, { ...plainStyle, columns }).split("\n");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
  // Broken between words only: a terminal can jump to the place.
  expect(lines.join(" ")).toContain(`error review-everything: ${long}`);
});

test("al stat keeps one line per row for any status text", () => {
  const wide = anAgentStatus("wide", { statusText: "広い".repeat(40) });
  const rows = renderStatus(snapshotOf([wide]), { ...plainStyle, columns: 80 }).split("\n");
  expect(rows.filter((row) => row.includes("広"))).toHaveLength(1);
});

test("without a limit an error is cut in the table, and a status is not", () => {
  const error = `failed: ${"it went wrong ".repeat(20)}`;
  const statusText = "reading ".repeat(20).trim();
  const agents = [
    anAgentStatus("bad", { state: "error", error }),
    anAgentStatus("ok", { statusText }),
  ];
  const text = renderStatus(snapshotOf(agents), plainStyle);
  expect(text).toMatch(/^bad +error +it went wrong [^…]{20,60}…/m);
  expect(text).toMatch(new RegExp(`^ok .*${statusText}`, "m"));
  expect(text).toContain(`error bad: ${error}`);
});

test("al stat names the first step without agents, and the error of a project", () => {
  const text = renderStatus(snapshotOf([], { error: "config.toml:1:1  nonsense" }), plainStyle);
  expect(text).toContain("al agent new");
  expect(text).toContain("error config.toml:1:1  nonsense");
});

test("al stat shows warnings in full below the errors, and in the table if the row has nothing else", () => {
  const warning = `model "claude" can't be used: ${"credential anthropic_key is missing ".repeat(3)}`;
  const agents = [
    anAgentStatus("dev", { warning }),
    anAgentStatus("ran", { warning, statusText: "done" }),
    anAgentStatus("bad", { warning, state: "error", error: "no token" }),
  ];
  const warnings = ["agents/bare  is not an agent"];
  const text = renderStatus(snapshotOf(agents, { warnings }), plainStyle);
  expect(text).toMatch(/^dev +idle +model "claude" can't be used: [^…]+…/m);
  expect(text).toMatch(/^ran +idle +done$/m);
  expect(text).toMatch(/^bad +error +no token$/m);
  expect(text.split("\n").slice(-5)).toEqual([
    "error bad: no token",
    "warning agents/bare  is not an agent",
    ...["dev", "ran", "bad"].map((name) => `warning ${name}: ${warning}`),
  ]);
});
