import pc from "picocolors";
import type { AgentStatus, StatusSnapshot } from "../../../../streams/status/wire.ts";
import { renderStatus } from "../../../../src/interfaces/cli/status/render-status.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import { snapshotOf } from "../fake-operator.ts";

const now = Date.UTC(2026, 0, 5, 12);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const rendered = (snapshot: StatusSnapshot, columns: number | null = null) =>
  renderStatus(snapshot, { colors: pc.createColors(false), columns, now });

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
  test("prints schedulers and agents in each state without a terminal as in the fixture", async () => {
    const error = `failed: ${"it went wrong ".repeat(20)}`;
    const warning = `model "claude" can't be used: ${"credential anthropic_key is missing ".repeat(3)}`;
    const day = { scope: "agent:dev", window: "2026-11-22", endsAt: ago(-7200), usd: 5, limit: 5 };
    const states: readonly Partial<AgentStatus>[] = [
      { state: "waiting", blockedBy: "lock" },
      { state: "blocked", blockedBy: "image", error: "no base image" },
      { enabled: false, nextRunAt: ago(-30), queued: 2 },
      { enabled: false, scale: 0 },
      { running: 1, runningUsd: 0.05, statusText: "reading ".repeat(20).trim() },
      { spentToday: { usd: 1.25, endsAt: ago(-1) } },
      {
        usedBudget: { ...day, onLimit: "pause" },
        error: "over budget: the call needs more",
        lastOutcome: "over_budget",
      },
      { state: "error", error },
      { warning },
      { warning, statusText: "done" },
      { warning, state: "error", error: "no token" },
    ];
    const all = states.map((one, index) => anAgentStatus(`agent-${index}`, one));
    const printed = [
      snapshotOf(agents, scheduler),
      snapshotOf(agents, paused),
      snapshotOf(agents, { ...paused, draining: true }),
      snapshotOf([], { error: "config.toml:1:1  nonsense" }),
      snapshotOf(all, { warnings: ["agents/bare  is not an agent"] }),
    ].map((snapshot) => rendered(snapshot));
    await expect(`${printed.join("\n\n\n")}\n`).toMatchFileSnapshot("render-status.txt");
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
});
