import { userInfo } from "node:os";
import pc from "picocolors";
import { renderAlerts } from "../../../src/interfaces/cli/operator/alerts.ts";
import { widthOf } from "../../../src/interfaces/cli/terminal/fit.ts";
import type { AlertsReport } from "../../../src/features/alerts/alerts-report.ts";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();
let queries: string[];
let report: AlertsReport;

const now = new Date(2026, 10, 22, 12, 0, 0).getTime();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const waiting = { state: "waiting", nextAt: minutesAgo(-30), endedAt: null } as const;
const bad: AlertsReport = {
  targets: [
    aTarget("ops", { state: "failing", waiting: 2, dead: 1, lastError: "HTTP 503" }),
    aTarget("chat", { type: "telegram", state: "off", lastError: "HTTP 410" }),
  ],
  open: [
    {
      agent: "dev",
      topic: "runs",
      since: minutesAgo(90),
      count: 3,
      reason: "exited with\u001b[2J code 1",
      ack: { by: "an\u001b[2Jna", at: minutesAgo(30), until: null },
    },
    {
      agent: null,
      topic: "config",
      since: minutesAgo(2),
      count: 1,
      reason: null,
      ack: { by: "ops", at: minutesAgo(30), until: minutesAgo(-30) },
    },
  ],
  deliveries: [
    aDelivery(1, { ...waiting, attempts: 0, reason: null }, now),
    aDelivery(2, { ...waiting, attempts: 3, lastError: "HTTP 503" }, now),
    aDelivery(3, { state: "dead", attempts: 8, lastError: "HTTP 404", title: "cat failed" }, now),
    aDelivery(4, {}, now),
  ],
  next: null,
};
const [, , dead = aDelivery(3)] = bad.deliveries;

beforeEach(async () => {
  queries = [];
  report = bad;
  await cli.serve({
    "GET /api/alerts": ({ query }) => {
      queries.push(query.toString());
      return report;
    },
    "POST /api/alerts/retry": { success: true, retried: 3 },
    [`POST /api/alerts/${dead.id}/retry`]: { success: true, id: dead.id },
  });
});

test("al alerts prints alerts, targets and deliveries as tables, with the next command", () => {
  const style = { colors: pc.createColors(false), columns: null, now };
  return expect(`${renderAlerts(bad, style)}\n`).toMatchFileSnapshot("alerts.txt");
});

test("al alerts fits a terminal of 60 columns without cutting names", () => {
  const reason = "something that goes on and on ".repeat(9);
  const name = "nightly-report";
  const open = bad.open.map((one) => ({ ...one, agent: name, reason }));
  const targets = bad.targets.map((one) => ({ ...one, name, lastError: reason }));
  const deliveries = bad.deliveries.map((one) => ({ ...one, target: name, reason }));
  const style = { colors: pc.createColors(false), columns: 60, now };
  const lines = renderAlerts({ open, targets, deliveries }, style).split("\n");
  for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(60);
  const named = lines.filter((line) => ` ${line} `.includes(` ${name} `));
  expect(named.length).toBeGreaterThanOrEqual(open.length + targets.length + deliveries.length);
});

test("al alerts is short for al alerts list; with a filter it shows deliveries only", async () => {
  for (const line of ["alerts", "alerts list"]) {
    await cli.prints(line, /^Wrong now[^\u001b]+$/);
  }
  const stdout = await cli.output("alerts --state dead --target ops -n 5");
  expect(queries).toEqual(["limit=20", "limit=20", "limit=5&state=dead&target=ops"]);
  expect(stdout).not.toContain("Wrong now");
  expect(stdout).toContain(`al alerts retry ${dead.id}`);
});

test("al alerts of a project without a target says how to make one", async () => {
  report = { ...bad, targets: [], open: [], deliveries: [] };
  const { stderr } = await cli.al("alerts");
  expect(stderr).toContain("alerts have no target yet; add [alerts.<name>] to config.toml\n");
});

test("al alerts retry takes an id, or --all for all dead deliveries", async () => {
  await cli.prints(`alerts retry ${dead.id}`, `${dead.id} is due now\n`);
  await cli.prints("alerts retry --all", "3 alerts due now\n");
});

test("al alerts ack, snooze and ack --undo send the OS user's name", async () => {
  const { routes } = cli.operator;
  const bodies: unknown[] = [];
  routes["POST /api/alerts/ack"] = ({ body }) => {
    bodies.push(body);
    return { success: true };
  };
  await cli.prints("alerts ack dev", "dev: no reminders until it is resolved\n");
  const before = Date.now();
  await cli.prints("alerts snooze project 1h30m", /^project: no reminders until \d/);
  await cli.prints("alerts ack dev --undo", "dev: reminders are sent again\n");
  const by = userInfo().username;
  const until = expect.any(String) as string;
  expect(bodies).toEqual([
    { agent: "dev", by },
    { agent: null, by, until },
    { agent: "dev", undo: true },
  ]);
  const ms = Date.parse((bodies[1] as { until: string }).until) - before - 5_400_000;
  expect(Math.abs(ms)).toBeLessThan(60_000);
});
