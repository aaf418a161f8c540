import pc from "picocolors";
import type { AgentStatus, StatusSnapshot } from "../../../../streams/status/wire.ts";
import { renderStatus } from "../../../../src/interfaces/cli/status/render-status.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import { snapshotOf } from "../fake-operator.ts";

const now = Date.UTC(2026, 0, 5, 12);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const rendered = (snapshot: StatusSnapshot, columns: number | null = null) =>
  renderStatus(snapshot, { colors: pc.createColors(false), columns, now });
const rows = (...agents: readonly AgentStatus[]) => rendered(snapshotOf(agents));

const long = "agents/review-everything/config.toml:4:12  schedule is not a cron expression";
const dev = anAgentStatus("dev", {
  state: "running",
  running: 1,
  statusText: "reading the issue\nand thinking",
  lastRunAt: ago(90),
  lastDurationMs: 4200,
  nextRunAt: ago(-30),
});
const agents = [
  dev,
  anAgentStatus("review-everything", { state: "error", error: long }),
  anAgentStatus("off", { enabled: false, nextRunAt: ago(-30), queued: 2 }),
];
const scheduler = { startedAt: ago(3600), running: 1, gatewayUrl: "http://localhost:80" };
const paused = { ...scheduler, paused: true, pausedAt: ago(300) };

describe("al stat", () => {
  test("shows the running scheduler with start and address, and the agents", () => {
    const [head, , , ...lines] = rendered(snapshotOf(agents, scheduler)).split("\n");
    expect(head).toBe("project · started 1 h ago · 1 running · http://localhost:80");
    expect(lines[0]).toMatch(
      /^dev +running +reading the issue and thinking +1 min ago +1 min 30 s +in 30 s$/,
    );
  });

  test.each([
    [
      paused,
      "Schedules were paused 5 min ago. Scheduled runs are skipped. Other work runs. Resume with al resume.",
      "paused",
    ],
    [
      { ...paused, draining: true },
      "Stopping: nothing is started any more, running runs get their grace period.",
      "1 min 30 s",
    ],
  ])("shows that it is paused or stops, without next runs: %j", (state, note, end) => {
    const [, second, ...lines] = rendered(snapshotOf(agents, state)).split("\n");
    expect(second).toBe(note);
    expect(lines.join("\n")).toMatch(new RegExp(`^dev .* ${end}$`, "m"));
    expect(lines.join("\n")).not.toContain(" in 30 s");
  });

  test.each<[Partial<AgentStatus>, RegExp]>([
    [{ state: "waiting", blockedBy: "lock" }, /^dev +waiting: lock$/m],
    [
      { state: "blocked", blockedBy: "image", error: "no base image" },
      /^dev +blocked: image +no base image$/m,
    ],
    [{ enabled: false, nextRunAt: ago(-30), queued: 2 }, /^dev +idle +disabled, 2 queued$/m],
    [{ enabled: false, scale: 0 }, /^dev +idle +disabled by scale = 0$/m],
    [{ running: 1, runningUsd: 0.05, statusText: "reading" }, /^dev +idle +now \$0\.05: reading/m],
    [{ spentToday: { usd: 1.25, endsAt: ago(-1) } }, /Cost Today\ndev .* \$1\.25$/m],
  ])("shows an agent with %j", (status, row) =>
    expect(rows(anAgentStatus("dev", status))).toMatch(row),
  );

  test("shows how to raise a used-up budget, instead of the run's error", () => {
    const day = { scope: "agent:dev", window: "2026-11-22", endsAt: ago(-7200), usd: 5, limit: 5 };
    const text = rows(
      anAgentStatus("dev", {
        usedBudget: { ...day, onLimit: "pause" },
        error: "over budget: the call needs more",
        lastOutcome: "over_budget",
      }),
    );
    const waits = "waits for money: $5.00 of its $5.00 a day is spent; the next day begins in 2 h";
    expect(text).toMatch(/^dev +idle +waits for money/m);
    expect(text).not.toContain("the call needs more");
    expect(text).toContain(`warning dev ${waits}. Raise it: al budget raise dev <usd>`);
  });

  test.each([60, 80, 100, 200])(
    "fits a terminal of %i columns, and shows errors in full below the table",
    (columns) => {
      const wide = anAgentStatus("wide", { statusText: "広い".repeat(40) });
      const lines = rendered(snapshotOf([...agents, wide], paused), columns).split("\n");
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
      expect(lines.filter((line) => line.includes("広"))).toHaveLength(1);
      expect(lines.join("\n").includes("Cost Today")).toBe(columns > 80);
      // Broken between words only: a terminal can jump to the place.
      expect(lines.join(" ")).toContain(`error review-everything: ${long}`);
    },
  );

  test("without a terminal cuts an error in the table, but not a status", () => {
    const error = `failed: ${"it went wrong ".repeat(20)}`;
    const statusText = "reading ".repeat(20).trim();
    const text = rows(
      anAgentStatus("bad", { state: "error", error }),
      anAgentStatus("ok", { statusText }),
    );
    expect(text).toMatch(/^bad +error +it went wrong [^…]{20,60}…/m);
    expect(text).toMatch(new RegExp(`^ok .*${statusText}`, "m"));
    expect(text).toContain(`error bad: ${error}`);
  });

  test("suggests the first step if there are no agents, and shows the project's error", () =>
    expect(rendered(snapshotOf([], { error: "config.toml:1:1  nonsense" }))).toMatch(
      /al agent new[^]*error config.toml:1:1 {2}nonsense/,
    ));

  test("shows warnings in full below the errors, and in the table if the row has no other text", () => {
    const warning = `model "claude" can't be used: ${"credential anthropic_key is missing ".repeat(3)}`;
    const text = rendered(
      snapshotOf(
        [
          anAgentStatus("dev", { warning }),
          anAgentStatus("ran", { warning, statusText: "done" }),
          anAgentStatus("bad", { warning, state: "error", error: "no token" }),
        ],
        { warnings: ["agents/bare  is not an agent"] },
      ),
    );
    expect(text).toMatch(/^dev +idle +model "claude" can't be used: [^…]+…/m);
    expect(text).toMatch(/^ran +idle +done\nbad +error +no token$/m);
    expect(text.split("\n").slice(-5)).toEqual([
      "error bad: no token",
      "warning agents/bare  is not an agent",
      `warning dev: ${warning}`,
      `warning ran: ${warning}`,
      `warning bad: ${warning}`,
    ]);
  });
});
