import { anAgentStatus } from "../../helpers/agent-status.ts";
import {
  agentsOf,
  cliProject,
  refusal,
  snapshotOf,
  type Ran,
  type Routes,
} from "./fake-operator.ts";

const cli = cliProject();
const status = agentsOf("dev", "review");

test("al stat prints the agents as a table", async () => {
  await cli.serve(status);
  const { code, stdout, stderr } = await cli.al("stat");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Agent +State +Status +Last Run +Duration +Next Run +Cost Today$/m);
  expect(stdout).toMatch(/^dev +idle$/m);
});

test("al stat --tag shows the agents with a tag, or the tags that exist", async () => {
  const agents = [
    anAgentStatus("dev", { tags: ["web", "team-a"] }),
    anAgentStatus("review", { tags: ["web"] }),
    anAgentStatus("ops"),
  ];
  await cli.serve({ "GET /control/status": snapshotOf(agents) });
  const shown = await cli.output("stat --tag web");
  expect(shown.match(/^(dev|review|ops)(?= )/gm)).toEqual(["dev", "review"]);
  expect(await cli.json("stat --tag team-a")).toMatchObject({ agents: [{ name: "dev" }] });
  const wrong = await cli.failure("stat --tag data");
  expect(wrong).toBe('error: no agent has the tag "data"\nhint: tags: team-a, web\n');
});

test.each([
  ["no colour without a terminal", { CI: "1" }, false],
  ["colour with FORCE_COLOR", { FORCE_COLOR: "1" }, true],
  ["no colour with NO_COLOR", { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
])("al stat prints %s", async (_what, env, isColoured) => {
  await cli.serve(status);
  expect((await cli.output("stat", env)).includes("\u001b[")).toBe(isColoured);
});

test("al stat reports that the scheduler rejects the API key", async () => {
  await cli.serve(status);
  const { stderr } = await cli.al("stat", { AL_HOME: `${cli.home}-other` });
  expect(stderr).toMatch(/API key[^]*AL_HOME/);
});

test("al stat reports an unexpected response in two lines, with AL_DEBUG also the stack", async () => {
  await cli.serve({ "GET /control/status": { scheduler: {} } });
  const stderr = await cli.failure("stat");
  expect(stderr.trim().split("\n")).toHaveLength(2);
  expect(stderr).toContain("AL_DEBUG=1");
  expect((await cli.al("stat", { AL_DEBUG: "1" })).stderr).toContain("    at ");
});

const paused = "paused: all new work waits until al resume, and manual starts are refused\n";
const disabled = { success: true, agent: "dev", enabled: false };

test.each<[string, string, string, object]>([
  ["pause", "pause", "paused: cron jobs are skipped until al resume\n", {}],
  ["pause --all-work", "pause", paused, {}],
  ["resume", "resume", "resumed: schedules and new work run again\n", {}],
  ["pause dev", "agents/dev/disable", "dev is disabled until al resume dev\n", disabled],
  ["resume dev", "agents/dev/enable", "dev is enabled\n", disabled],
  ["pause dev --json", "agents/dev/disable", `${JSON.stringify(disabled)}\n`, disabled],
  ["kill dev", "agents/dev/kill", "2 runs of dev killed\n", { killed: 2 }],
  ["kill dev", "agents/dev/kill", "dev has no running runs\n", { killed: 0 }],
  ["kill --all", "kill", "no run is running\n", { killed: 0 }],
  ["kill --all --yes", "kill", "2 runs killed\n", { killed: 2 }],
  ["kill dev-abcd2345", "kill/dev-abcd2345", "dev-abcd2345 killed\n", {}],
])("al %s sends POST /control/%s and prints %j", async (line, path, printed, answer) => {
  const route = `POST /control/${path}`;
  const { asked } = await cli.serve({ ...status, [route]: answer });
  await cli.prints(line, printed);
  expect(asked.filter((one) => one.startsWith("POST"))).toEqual([route]);
});

test("al kill of an agent whose name looks like an instance id kills its runs", async () => {
  await cli.serve({
    ...agentsOf("dev", "dev-abcd2345"),
    "POST /control/agents/dev-abcd2345/kill": { killed: 1 },
  });
  await cli.prints("kill dev-abcd2345", "1 run of dev-abcd2345 killed\n");
});

const slip = 'error: there is no agent "reveiw"\nhint: did you mean "review"?\n';

test.each([
  ["pause reveiw", slip],
  ["kill reveiw-abcd2345", slip],
  ["budget raise reveiw 5", slip],
  ["kill nobody", 'error: there is no agent "nobody"\nhint: agents: dev, review\n'],
  [
    "kill dev-abcd2345",
    "error: no run dev-abcd2345 is running\nhint: al history shows how it ended\n",
  ],
])("al %s fails with %j", async (line, printed) => {
  await cli.serve({
    ...status,
    "POST /control/agents/reveiw/disable": refusal(404, "unknown_agent"),
    "POST /control/kill/dev-abcd2345": refusal(404, "unknown_instance"),
  });
  expect(await cli.failure(line)).toBe(printed);
});

test("al rejects an unknown agent among many with similar names", async () => {
  const many = Array.from({ length: 300 }, (_, index) => `worker-${index}`);
  await cli.serve({
    ...agentsOf(...many, "nightly-report", "report-costs"),
    "POST /control/agents/report/disable": refusal(404, "unknown_agent"),
  });
  expect(await cli.failure("pause report")).toBe(
    'error: there is no agent "report"\nhint: most like it: report-costs, nightly-report; al stat lists all 302\n',
  );
  await cli.fails("kill nosuch-x", "hint: al stat lists all 302\n");
});

test("al pause ../../control/stop calls no other API route", async () => {
  const { asked } = await cli.serve(status);
  await cli.al("pause ../../control/stop");
  expect(asked).not.toContain("POST /control/stop");
});

const receiptId = "0193a1b2-0000-7000-8000-000000000001";
const path = `POST /api/webhooks/${receiptId}/replay`;
const triggerPath = `POST /api/triggers/${receiptId}/replay`;
const replayed = (matched: readonly object[], reason: string | null = null) => ({
  receiptId,
  replayId: "p",
  matched,
  reason,
});
const started = { agent: "dev", outcome: "started", instanceId: "dev-abcd2345", triggerId: "1" };
const rejected = { agent: "ops", outcome: "rejected", triggerId: "2", reason: "agent disabled" };
const queued = { agent: "dev", outcome: "queued", triggerId: "1" };

test.each<[string, Routes, Ran]>([
  [
    "prints the outcome of each agent",
    { [path]: replayed([started, rejected]) },
    { code: 0, stdout: "dev started: dev-abcd2345\nops rejected: agent disabled\n", stderr: "" },
  ],
  [
    "fails when nothing ran, with the reason",
    { [path]: replayed([], "agent dev: repos does not include acme/x") },
    { code: 1, stdout: "", stderr: "nothing ran: agent dev: repos does not include acme/x\n" },
  ],
  [
    "runs the work of a history entry again when no receipt has that id",
    { [path]: refusal(404, "unknown_receipt"), [triggerPath]: replayed([queued]) },
    { code: 0, stdout: "dev queued\n", stderr: "" },
  ],
])("al replay %s", async (_name, routes, expected) => {
  const { asked } = await cli.serve(routes);
  expect(await cli.al(`replay ${receiptId}`)).toEqual(expected);
  expect(asked).toEqual(Object.keys(routes));
});

test("al replay --agent replays for that agent only", async () => {
  let query = "";
  const answer = replayed([queued]);
  await cli.serve({ [path]: (request) => ((query = request.query.toString()), answer) });
  expect(await cli.json(`replay ${receiptId} -a dev`)).toEqual(answer);
  expect(query).toBe("agent=dev");
});

test("al replay of an unknown id says where ids are shown", async () => {
  const unknown = refusal(404, "unknown_trigger");
  await cli.serve({ [path]: refusal(404, "unknown_receipt"), [triggerPath]: unknown });
  await cli.fails(`replay ${receiptId}`, "al history --json");
});
