import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, problem, snapshotOf, type Ran, type Routes } from "./fake-operator.ts";

const cli = cliProject();

const snapshot = snapshotOf([anAgentStatus("dev"), anAgentStatus("review")]);

test("al stat prints the agents as a table", async () => {
  await cli.serve({ "GET /control/status": () => snapshot });
  const { code, stdout, stderr } = await cli.al(["stat"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^Agent +State +Status +Last Run +Duration +Next Run +Cost Today$/m);
  expect(stdout).toMatch(/^dev +idle$/m);
});

test("al stat --json prints the snapshot unchanged", async () => {
  await cli.serve({ "GET /control/status": () => snapshot });
  expect(await cli.json(["stat"])).toEqual(snapshot);
});

test("al stat --tag shows the agents with a tag, and the tags that exist", async () => {
  const agents = [
    anAgentStatus("dev", { tags: ["web", "team-a"] }),
    anAgentStatus("review", { tags: ["web"] }),
    anAgentStatus("ops"),
  ];
  await cli.serve({ "GET /control/status": () => snapshotOf(agents) });
  const { stdout } = await cli.al(["stat", "--tag", "web"]);
  expect(stdout.match(/^(dev|review|ops)(?= )/gm)).toEqual(["dev", "review"]);
  const { stdout: json } = await cli.al(["stat", "--tag", "team-a", "--json"]);
  expect(JSON.parse(json)).toMatchObject({ agents: [{ name: "dev", tags: ["web", "team-a"] }] });
  const wrong = await cli.failure(["stat", "--tag", "data"]);
  expect(wrong).toBe('error: no agent has the tag "data"\nhint: tags: team-a, web\n');
});

test("al stat prints no colour off a terminal, some when forced, none with NO_COLOR", async () => {
  await cli.serve({ "GET /control/status": () => snapshot });
  const escape = "\u001b[";
  expect((await cli.al(["stat"], { CI: "1" })).stdout).not.toContain(escape);
  expect((await cli.al(["stat"], { FORCE_COLOR: "1" })).stdout).toContain(escape);
  const both = await cli.al(["stat"], { FORCE_COLOR: "1", NO_COLOR: "1" });
  expect(both.stdout).not.toContain(escape);
});

test("al stat reports that the key is not the scheduler's", async () => {
  await cli.serve({ "GET /control/status": () => snapshot });
  const { stderr } = await cli.al(["stat"], { AL_HOME: `${cli.home}-other` });
  expect(stderr).toContain("API key");
  expect(stderr).toContain("AL_HOME");
});

test("an unexpected answer is one line, and its stack is shown on request", async () => {
  await cli.serve({ "GET /control/status": () => ({ scheduler: {} }) });
  const stderr = await cli.failure(["stat"]);
  expect(stderr.trim().split("\n")).toHaveLength(2);
  expect(stderr).toContain("AL_DEBUG=1");
  expect((await cli.al(["stat"], { AL_DEBUG: "1" })).stderr).toContain("    at ");
});

const refuse =
  (code: string): Routes[string] =>
  (_request, response) =>
    problem(response, 404, code, "none");
const status: Routes = { "GET /control/status": () => snapshot };
const disabled = { success: true, agent: "dev", enabled: false };
const dead = snapshotOf([anAgentStatus("dev"), anAgentStatus("dev-abcd2345")]);

test.each<[string, string, Routes[string], string]>([
  ["pause", "/control/pause", () => ({}), "paused: cron jobs are skipped until al resume\n"],
  [
    "pause --all-work",
    "/control/pause",
    () => ({}),
    "paused: all new work waits until al resume, and manual starts are refused\n",
  ],
  ["resume", "/control/resume", () => ({}), "resumed: schedules and new work run again\n"],
  [
    "pause dev",
    "/control/agents/dev/disable",
    () => disabled,
    "dev is disabled until al resume dev\n",
  ],
  ["resume dev", "/control/agents/dev/enable", () => disabled, "dev is enabled\n"],
  [
    "pause dev --json",
    "/control/agents/dev/disable",
    () => disabled,
    `${JSON.stringify(disabled)}\n`,
  ],
  ["kill dev", "/control/agents/dev/kill", () => ({ killed: 2 }), "2 runs of dev killed\n"],
  ["kill dev", "/control/agents/dev/kill", () => ({ killed: 0 }), "dev has no running runs\n"],
  ["kill --all", "/control/kill", () => ({ killed: 0 }), "no run is running\n"],
  ["kill --all --yes", "/control/kill", () => ({ killed: 2 }), "2 runs killed\n"],
  ["kill dev-abcd2345", "/control/kill/dev-abcd2345", () => ({}), "dev-abcd2345 killed\n"],
])("al %s sends POST %s", async (line, route, answer, printed) => {
  const { asked } = await cli.serve({ ...status, [`POST ${route}`]: answer });
  expect(await cli.al(line.split(" "))).toEqual({ code: 0, stdout: printed, stderr: "" });
  expect(asked.filter((one) => one.startsWith("POST"))).toEqual([`POST ${route}`]);
});

test("an agent whose name looks like an instance id is still an agent", async () => {
  await cli.serve({
    "GET /control/status": () => dead,
    "POST /control/agents/dev-abcd2345/kill": () => ({ killed: 1 }),
  });
  expect(await cli.output(["kill", "dev-abcd2345"])).toBe("1 run of dev-abcd2345 killed\n");
});

test.each([
  ["pause reveiw", 'error: there is no agent "reveiw"\nhint: did you mean "review"?\n'],
  ["kill reveiw-abcd2345", 'error: there is no agent "reveiw"\nhint: did you mean "review"?\n'],
  ["kill nobody", 'error: there is no agent "nobody"\nhint: agents: dev, review\n'],
  [
    "kill dev-abcd2345",
    "error: no run dev-abcd2345 is running\nhint: al history shows how it ended\n",
  ],
  ["budget raise reveiw 5", 'error: there is no agent "reveiw"\nhint: did you mean "review"?\n'],
])("al %s fails with %j", async (line, printed) => {
  await cli.serve({
    ...status,
    "POST /control/agents/reveiw/disable": refuse("unknown_agent"),
    "POST /control/kill/dev-abcd2345": refuse("unknown_instance"),
  });
  expect(await cli.failure(line.split(" "))).toBe(printed);
});

test("an unknown agent among many is rejected with similar names", async () => {
  const many = Array.from({ length: 300 }, (_, index) => anAgentStatus(`worker-${index}`));
  await cli.serve({
    "GET /control/status": () =>
      snapshotOf([...many, anAgentStatus("nightly-report"), anAgentStatus("report-costs")]),
    "POST /control/agents/report/disable": refuse("unknown_agent"),
  });
  expect(await cli.failure(["pause", "report"])).toMatch(
    /^error: there is no agent "report"\nhint: most like it: report-costs, nightly-report; al stat lists all 302\n$/,
  );
  expect(await cli.failure(["kill", "nosuch-x"])).toContain("hint: al stat lists all 302\n");
});

test("a name can't reach another route", async () => {
  const { asked } = await cli.serve(status);
  await cli.al(["pause", "../../control/stop"]);
  expect(asked).not.toContain("POST /control/stop");
});

const receiptId = "0193a1b2-0000-7000-8000-000000000001";
const result = { receiptId, replayId: "p", matched: [] as unknown[], reason: null };
const path = `POST /api/webhooks/${receiptId}/replay`;
const triggerPath = `POST /api/triggers/${receiptId}/replay`;
const started = { agent: "dev", outcome: "started", instanceId: "dev-abcd2345", triggerId: "1" };
const rejected = { agent: "ops", outcome: "rejected", triggerId: "2", reason: "agent disabled" };
const queued = { agent: "dev", outcome: "queued", triggerId: "1" };
const reason = "agent dev: repos does not include acme/x";

test.each<[string, Routes, Ran]>([
  [
    "tells what became of each agent",
    { [path]: () => ({ ...result, matched: [started, rejected] }) },
    { code: 0, stdout: "dev started: dev-abcd2345\nops rejected: agent disabled\n", stderr: "" },
  ],
  [
    "fails when nothing ran, and says why",
    { [path]: () => ({ ...result, reason }) },
    { code: 1, stdout: "", stderr: `nothing ran: ${reason}\n` },
  ],
  [
    "runs the work of a history entry again when there is no receipt of that id",
    {
      [path]: refuse("unknown_receipt"),
      [triggerPath]: () => ({ ...result, receiptId: null, matched: [queued] }),
    },
    { code: 0, stdout: "dev queued\n", stderr: "" },
  ],
])("al replay: %s", async (_name, routes, expected) => {
  const { asked } = await cli.serve(routes);
  expect(await cli.al(["replay", receiptId])).toEqual(expected);
  expect(asked).toEqual(Object.keys(routes));
});

test("al replay --agent replays for that agent only", async () => {
  let query = "";
  const answer = { ...result, matched: [queued] };
  await cli.serve({ [path]: (request) => ((query = request.query.toString()), answer) });
  expect(await cli.json(["replay", receiptId, "-a", "dev"])).toEqual(answer);
  expect(query).toBe("agent=dev");
});

test("al replay names where ids are found when an id is unknown", async () => {
  await cli.serve({ [path]: refuse("unknown_receipt"), [triggerPath]: refuse("unknown_trigger") });
  expect(await cli.failure(["replay", receiptId])).toContain("al history --json");
});
