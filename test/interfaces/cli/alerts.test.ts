import { userInfo } from "node:os";
import pc from "picocolors";
import { renderAlerts } from "../../../src/interfaces/cli/operator/alerts.ts";
import { widthOf } from "../../../src/interfaces/cli/terminal/fit.ts";
import type { AlertsReport } from "../../../src/features/alerts/alerts-report.ts";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { cliProject, problem, type Routes } from "./fake-operator.ts";

const cli = cliProject();
let queries: string[];
let report: AlertsReport;

const now = new Date(2026, 10, 22, 12, 0, 0).getTime();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const nothing: AlertsReport = { targets: [], open: [], deliveries: [], next: null };
const bad: AlertsReport = {
  targets: [
    aTarget("ops", { state: "failing", waiting: 2, dead: 1, lastError: "HTTP 503" }),
    aTarget("chat", {
      type: "telegram",
      state: "off",
      lastError: "HTTP 410",
      offSince: minutesAgo(9),
    }),
  ],
  open: [
    {
      agent: "dev",
      topic: "runs",
      since: minutesAgo(90),
      count: 3,
      reason: "exited with\u001b[2J code 1",
      ack: null,
    },
    { agent: null, topic: "config", since: minutesAgo(2), count: 1, reason: null, ack: null },
  ],
  deliveries: [
    aDelivery(
      1,
      { state: "waiting", attempts: 0, nextAt: minutesAgo(-30), endedAt: null, reason: null },
      now,
    ),
    aDelivery(
      2,
      {
        state: "waiting",
        attempts: 3,
        nextAt: minutesAgo(-30),
        endedAt: null,
        lastError: "HTTP 503",
      },
      now,
    ),
    aDelivery(3, { state: "dead", attempts: 8, lastError: "HTTP 404", title: "cat failed" }, now),
    aDelivery(4, {}, now),
  ],
  next: null,
};
const [, , dead] = bad.deliveries;

beforeEach(async () => {
  queries = [];
  report = bad;
  const routes: Routes = {
    "GET /api/alerts": ({ query }) => {
      queries.push(query.toString());
      return report;
    },
    "POST /api/alerts/retry": () => ({ success: true, retried: 3 }),
    [`POST /api/alerts/${dead?.id ?? ""}/retry`]: () => ({ success: true, id: dead?.id }),
    "POST /api/alerts/targets/ops/test": () => ({ accepted: true, error: null }),
    "POST /api/alerts/targets/chat/test": () => ({ accepted: false, error: "HTTP 410: \u001b[2J" }),
    "POST /api/alerts/targets/opps/test": (_asked, response) =>
      problem(response, 404, "unknown_target", 'there is no target "opps" of alerts'),
    "POST /api/alerts/gone/retry": (_asked, response) =>
      problem(response, 404, "unknown_delivery", 'no delivery "gone" waits or was given up'),
  };
  await cli.serve(routes);
});

test("alerts, targets and deliveries are tables, with the command to run next", () => {
  const style = { colors: pc.createColors(false), columns: null, now };
  expect(renderAlerts(bad, style).split("\n")).toEqual([
    "Wrong now          Agent    Since     Count  Why",
    "runs fail          dev      10:30:00  3      exited with code 1",
    "config is invalid  project  11:58:00",
    "",
    "Target  Type      State    Waiting  Dead  Last error",
    "ops     slack     failing  2        1     HTTP 503",
    "chat    telegram  off      0        0     HTTP 410",
    "  al alerts test chat: on again once it accepts",
    "",
    "Time      Alert                           Target  State",
    "11:59:00  dev failed                      ops     waiting",
    "  at 12:30:00",
    "11:58:00  dev failed: exited with code 1  ops     waiting",
    "  attempt 4 at 12:30:00: HTTP 503",
    `  al alerts retry ${bad.deliveries[1]?.id ?? ""}`,
    "11:57:00  cat failed: exited with code 1  ops     dead",
    "  after 8 attempts: HTTP 404",
    `  al alerts retry ${dead?.id ?? ""}`,
    "11:56:00  dev failed: exited with code 1  ops     sent",
  ]);
});

test("on a terminal of 60 columns each line fits", () => {
  const long = "something that goes on and on ".repeat(9);
  const deliveries = bad.deliveries.map((one) => ({ ...one, reason: long, lastError: long }));
  const targets = bad.targets.map((one) => ({ ...one, lastError: long }));
  const open = bad.open.map((one) => ({ ...one, reason: long }));
  const style = { colors: pc.createColors(true), columns: 60, now };
  const text = renderAlerts({ open, targets, deliveries }, style);
  for (const line of text.split("\n")) expect(widthOf(line), line).toBeLessThanOrEqual(60);
});

test("on a narrow terminal no name is cut", () => {
  const name = "a-very-long-name-of-an-agent";
  const style = { colors: pc.createColors(false), columns: 60, now };
  const open = bad.open.map((one) => ({ ...one, agent: name, reason: "it goes on and on" }));
  const targets = bad.targets.map((one) => ({ ...one, name, lastError: "it goes on and on" }));
  const deliveries = bad.deliveries.map((one) => ({ ...one, target: name }));
  const lines = renderAlerts({ open, targets, deliveries }, style).split("\n");
  const rows = open.length + targets.length + deliveries.length;
  expect(lines.filter((line) => ` ${line} `.includes(` ${name} `)).length).toBeGreaterThanOrEqual(
    rows,
  );
});

test("al alerts is al alerts list; a filter does not change the deliveries", async () => {
  for (const args of [["alerts"], ["alerts", "list"]]) {
    const { code, stdout, stderr } = await cli.al(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Wrong now");
    expect(stdout).not.toContain("\u001b");
  }
  const { stdout } = await cli.al(["alerts", "--state", "dead", "--target", "ops", "-n", "5"]);
  expect(queries).toEqual(["limit=20", "limit=20", "limit=5&state=dead&target=ops"]);
  expect(stdout).not.toContain("Wrong now");
  expect(stdout).toContain(`al alerts retry ${dead?.id ?? ""}`);
  expect(await cli.json(["alerts"])).toEqual(bad);
});

test("empty tables are reported on standard error", async () => {
  report = nothing;
  expect(await cli.al(["alerts"])).toEqual({
    code: 0,
    stdout: "",
    stderr:
      "nothing is wrong now\nalerts have no target yet; [alerts.<name>] in config.toml makes one\n",
  });
  report = { ...nothing, targets: [aTarget("ops")] };
  expect((await cli.al(["alerts"])).stderr).toBe("nothing is wrong now\nno alert was sent yet\n");
  expect((await cli.al(["alerts", "--state", "dead"])).stderr).toBe(
    "no alert meets these filters\n",
  );
});

test("a test prints whether the target accepted it, and fails when it did not", async () => {
  expect(await cli.al(["alerts", "test", "ops"])).toEqual({
    code: 0,
    stdout: "ops accepted the test\n",
    stderr: "",
  });
  expect(await cli.al(["alerts", "test", "chat"])).toEqual({
    code: 1,
    stdout: "",
    stderr: "chat did not accept the test: HTTP 410:\n",
  });
  const json = await cli.al(["alerts", "test", "chat", "--json"]);
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([1, { accepted: false }]);
  const unknown = await cli.al(["alerts", "test", "opps"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('there is no target "opps" of alerts'),
  ]);
});

test("one alert is retried by its id, all dead ones by --all", async () => {
  const id = dead?.id ?? "";
  expect((await cli.al(["alerts", "retry", id])).stdout).toBe(`${id} is due now\n`);
  expect((await cli.al(["alerts", "retry", "--all"])).stdout).toBe("3 alerts due now\n");
  expect(await cli.json(["alerts", "retry", "--all"])).toEqual({ success: true, retried: 3 });
  const gone = await cli.al(["alerts", "retry", "gone"]);
  expect(gone.code).toBe(1);
  expect(gone.stderr).toMatch(/no delivery "gone" waits or was given up[^]*--state dead/);
  const { routes } = cli.operator;
  routes["POST /api/alerts/retry"] = () => ({ success: true, retried: 0 });
  const none = await cli.al(["alerts", "retry", "--all"]);
  expect([none.stdout, none.stderr]).toEqual(["", "no alert was given up\n"]);
});

test("an open alert is acknowledged, snoozed and reminded of again, in the user's name", async () => {
  const bodies: unknown[] = [];
  cli.operator.routes["POST /api/alerts/ack"] = ({ body }) => {
    bodies.push(body);
    return { success: true };
  };
  const by = userInfo().username;
  expect((await cli.al(["alerts", "ack", "dev"])).stdout).toBe(
    "dev: no reminders until it is resolved\n",
  );
  const before = Date.now();
  const snoozed = await cli.al(["alerts", "snooze", "project", "1h30m"]);
  expect(snoozed.stdout).toMatch(/^project: no reminders until \d/);
  const undone = await cli.al(["alerts", "ack", "dev", "--undo"]);
  expect(undone.stdout).toBe("dev: reminders are sent again\n");
  const until = expect.any(String) as string;
  expect(bodies).toEqual([
    { agent: "dev", by },
    { agent: null, by, until },
    { agent: "dev", undo: true },
  ]);
  const ms = Date.parse((bodies[1] as { until: string }).until) - before - 5_400_000;
  expect(Math.abs(ms)).toBeLessThan(60_000);
  cli.operator.routes["POST /api/alerts/ack"] = (_asked, response) =>
    problem(response, 404, "unknown_alert", 'no alert of agent "cat" is open');
  const unknown = await cli.al(["alerts", "ack", "cat"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/no alert of agent "cat" is open[^]*al alerts shows the open alerts/),
  ]);
});

test("who acknowledged or snoozed an open alert is below it", () => {
  const style = { colors: pc.createColors(false), columns: null, now };
  const acks = [
    { by: "an\u001b[2Jna", at: minutesAgo(30), until: null },
    { by: "ops", at: minutesAgo(30), until: minutesAgo(-30) },
  ];
  const open = bad.open.map((one, index) => ({ ...one, ack: acks[index] ?? null }));
  expect(renderAlerts({ ...nothing, open }, style).split("\n")).toEqual([
    "Wrong now          Agent    Since     Count  Why",
    "runs fail          dev      10:30:00  3      exited with code 1",
    "  acknowledged by anna at 11:30:00",
    "config is invalid  project  11:58:00",
    "  snoozed by ops until 12:30:00",
  ]);
});

test.each([
  ["neither an id nor --all", ["retry"]],
  ["both", ["retry", "some-id", "--all"]],
  ["a test of no target", ["test"]],
  ["a snooze for no time", ["snooze", "dev"]],
  ["a snooze for a time that there is not", ["snooze", "dev", "soon"]],
  ["a state that there is not", ["list", "--state", "lost"]],
  ["a command that there is not", ["rettry"]],
])("%s is wrong usage", async (_what, args) => {
  const { code } = await cli.al(["alerts", ...args]);
  expect(code).toBe(2);
  expect(cli.operator.asked).toEqual([]);
});
