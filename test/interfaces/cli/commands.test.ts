import { agentsOf, cliProject, refusal, type Ran, type Routes } from "./fake-operator.ts";

const cli = cliProject();
const status = agentsOf("dev", "review");

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

test.each<[string, string, string, object]>([
  ["kill dev", "agents/dev/kill", "2 runs of dev killed\n", { killed: 2 }],
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

const unmatchedPath = "POST /api/webhooks/replay-unmatched";
const unmatchedOf = (id: string) => ({
  receiptId: id,
  at: "2026-12-01T09:00:00.000Z",
  source: "hub",
  event: "issues",
  action: "op\nened",
  agents: ["dev", "ops"],
});
const line = (id: string) => `${id} hub issues op ened: dev, ops\n`;

test("al replay --unmatched asks for each page, also while a queue has no room, and prints each delivery", async () => {
  const pages = [
    { deliveries: [unmatchedOf("r1")], next: "r1", fullQueue: "dev" },
    { deliveries: [], next: "r1", fullQueue: "dev" },
    { deliveries: [unmatchedOf("r2")], next: null, fullQueue: null },
  ];
  const bodies: unknown[] = [];
  const { asked } = await cli.serve({
    [unmatchedPath]: ({ body }) => (bodies.push(body), pages[bodies.length - 1]),
  });
  const ran = await cli.al("replay --unmatched --since 2026-12-01T09:00Z -s hub");
  expect(ran).toMatchObject({ code: 0, stdout: line("r1") + line("r2") });
  expect(ran.stderr).toMatch(/^the queue of dev is half full: .*\n2 deliveries replayed\n$/);
  const first = { since: "2026-12-01T09:00:00.000Z", source: "hub", dryRun: false };
  expect(bodies).toEqual([first, { ...first, after: "r1" }, { ...first, after: "r1" }]);
  expect(asked).toHaveLength(3);
});

test.each<[string, object[], string, number, string]>([
  ["", [], "", 1, "no delivery of that time matches an agent that it did not match before\n"],
  [" --dry-run", [unmatchedOf("r1")], line("r1"), 0, "1 delivery would be replayed\n"],
])(
  "al replay --unmatched%s with the deliveries %j prints them with a summary",
  async (option, deliveries, stdout, code, stderr) => {
    await cli.serve({ [unmatchedPath]: { deliveries, next: null, fullQueue: null } });
    const ran = await cli.al(`replay --unmatched --since 1d${option}`);
    expect(ran).toEqual({ code, stdout, stderr });
  },
);

test.each([
  "replay",
  "replay r1 --unmatched --since 1d",
  "replay r1 --dry-run",
  "replay --since 1d",
])("al %s is a usage error", async (words) =>
  expect(await cli.failure(words, 2)).toContain("or --unmatched"),
);

test("al replay --agent replays for that agent only", async () => {
  let query = "";
  const answer = replayed([queued]);
  await cli.serve({ [path]: (request) => ((query = request.query.toString()), answer) });
  expect(await cli.json(`replay ${receiptId} -a dev`)).toEqual(answer);
  expect(query).toBe("agent=dev");
});
