import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anAgentStatus } from "../../helpers/agent-status.ts";
import { makeFolders, problem, snapshotOf, startFakeOperator } from "./fake-operator.ts";
import type { FakeOperator, Folders, Routes } from "./fake-operator.ts";

let folders: Folders;
let operator: FakeOperator | null;

beforeEach(() => {
  folders = makeFolders();
  operator = null;
});
afterEach(async () => {
  await operator?.close();
  folders.remove();
});

async function serve(routes: Routes): Promise<FakeOperator> {
  operator = await startFakeOperator(folders, routes);
  return operator;
}

const snapshot = snapshotOf([anAgentStatus("dev"), anAgentStatus("review")]);

describe("al stat", () => {
  test("prints the agents as a table", async () => {
    await serve({ "GET /control/status": () => snapshot });
    const { code, stdout, stderr } = await folders.al(["stat"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Agent +State +Status +Last Run +Duration +Next Run +Cost Today$/m);
    expect(stdout).toMatch(/^dev +idle$/m);
  });

  test("--json prints the snapshot as it is", async () => {
    await serve({ "GET /control/status": () => snapshot });
    const { stdout } = await folders.al(["stat", "--json"]);
    expect(JSON.parse(stdout)).toEqual(snapshot);
  });

  test("--tag shows the agents with a tag, and which tags there are", async () => {
    const agents = [
      anAgentStatus("dev", { tags: ["web", "team-a"] }),
      anAgentStatus("review", { tags: ["web"] }),
      anAgentStatus("ops"),
    ];
    await serve({ "GET /control/status": () => snapshotOf(agents) });
    const { stdout } = await folders.al(["stat", "--tag", "web"]);
    expect(stdout.match(/^(dev|review|ops)(?= )/gm)).toEqual(["dev", "review"]);
    const { stdout: json } = await folders.al(["stat", "--tag", "team-a", "--json"]);
    expect(JSON.parse(json)).toMatchObject({ agents: [{ name: "dev", tags: ["web", "team-a"] }] });
    const wrong = await folders.al(["stat", "--tag", "data"]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toBe('error: no agent has the tag "data"\nhint: tags: team-a, web\n');
  });

  test("prints no colour off a terminal, some when forced, none with NO_COLOR", async () => {
    await serve({ "GET /control/status": () => snapshot });
    const escape = "\u001b[";
    expect((await folders.al(["stat"], { CI: "1" })).stdout).not.toContain(escape);
    expect((await folders.al(["stat"], { FORCE_COLOR: "1" })).stdout).toContain(escape);
    const both = await folders.al(["stat"], { FORCE_COLOR: "1", NO_COLOR: "1" });
    expect(both.stdout).not.toContain(escape);
  });

  test("says when the key is not the scheduler's", async () => {
    await serve({ "GET /control/status": () => snapshot });
    const { code, stderr } = await folders.al(["stat"], { AL_HOME: `${folders.home}-other` });
    expect(code).toBe(1);
    expect(stderr).toContain("API key");
    expect(stderr).toContain("AL_HOME");
  });

  test("an answer that nobody foresaw is one line, and its stack is shown on request", async () => {
    await serve({ "GET /control/status": () => ({ scheduler: {} }) });
    const { code, stderr } = await folders.al(["stat"]);
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(2);
    expect(stderr).toContain("AL_DEBUG=1");
    expect((await folders.al(["stat"], { AL_DEBUG: "1" })).stderr).toContain("    at ");
  });
});

describe("al pause and al resume", () => {
  test("without an agent are the scheduler's", async () => {
    const { asked } = await serve({
      "POST /control/pause": () => ({ success: true, paused: true }),
      "POST /control/resume": () => ({ success: true, paused: false }),
    });
    expect(await folders.al(["pause"])).toMatchObject({ code: 0 });
    expect(await folders.al(["resume"])).toMatchObject({ code: 0 });
    expect(asked).toEqual(["POST /control/pause", "POST /control/resume"]);
  });

  test("with an agent disable and enable it", async () => {
    const answer = { success: true, agent: "dev", enabled: false };
    const { asked } = await serve({
      "POST /control/agents/dev/disable": () => answer,
      "POST /control/agents/dev/enable": () => ({ ...answer, enabled: true }),
    });
    const paused = await folders.al(["pause", "dev", "--json"]);
    expect(JSON.parse(paused.stdout)).toEqual(answer);
    expect((await folders.al(["resume", "dev"])).stdout).toBe("dev is enabled\n");
    expect(asked).toHaveLength(2);
  });

  test("an unknown agent is refused with the one that was meant", async () => {
    await serve({
      "GET /control/status": () => snapshot,
      "POST /control/agents/reveiw/disable": (_request, response) =>
        problem(response, 404, "unknown_agent", "There is no agent reveiw."),
    });
    const { code, stderr } = await folders.al(["pause", "reveiw"]);
    expect(code).toBe(1);
    expect(stderr).toBe('error: there is no agent "reveiw"\nhint: did you mean "review"?\n');
  });

  test("an unknown agent among many is refused with three that are most like it", async () => {
    const many = Array.from({ length: 300 }, (_, index) => anAgentStatus(`worker-${index}`));
    await serve({
      "GET /control/status": () =>
        snapshotOf([...many, anAgentStatus("nightly-report"), anAgentStatus("report-costs")]),
      "POST /control/agents/report/disable": (_request, response) =>
        problem(response, 404, "unknown_agent", "There is no agent report."),
    });
    const { stderr } = await folders.al(["pause", "report"]);
    expect(stderr).toMatch(
      /^error: there is no agent "report"\nhint: most like it: report-costs, nightly-report, worker-\d+; al stat lists all 302\n$/,
    );
  });

  test("a name can't reach another route", async () => {
    const { asked } = await serve({ "GET /control/status": () => snapshot });
    await folders.al(["pause", "../../control/stop"]);
    expect(asked).not.toContain("POST /control/stop");
  });
});

describe("al kill", () => {
  const killed = { success: true, agent: "dev", killed: 2 };

  test("an agent's name ends all of its runs", async () => {
    await serve({
      "GET /control/status": () => snapshot,
      "POST /control/agents/dev/kill": () => killed,
    });
    expect(await folders.al(["kill", "dev"])).toMatchObject({
      code: 0,
      stdout: "2 runs of dev killed\n",
    });
  });

  test("an instance id ends that run", async () => {
    const { asked } = await serve({
      "GET /control/status": () => snapshot,
      "POST /control/kill/dev-abcd2345": () => ({ success: true }),
    });
    expect(await folders.al(["kill", "dev-abcd2345"])).toMatchObject({ code: 0 });
    expect(asked).toContain("POST /control/kill/dev-abcd2345");
  });

  test("an agent whose name looks like an instance id is still an agent", async () => {
    await serve({
      "GET /control/status": () =>
        snapshotOf([anAgentStatus("dev"), anAgentStatus("dev-abcd2345")]),
      "POST /control/agents/dev-abcd2345/kill": () => ({ ...killed, killed: 0 }),
    });
    const { stdout } = await folders.al(["kill", "dev-abcd2345"]);
    expect(stdout).toBe("dev-abcd2345 has no running runs\n");
  });

  test("a run that is over is told apart from an agent that isn't there", async () => {
    await serve({
      "GET /control/status": () => snapshot,
      "POST /control/kill/dev-abcd2345": (_request, response) =>
        problem(response, 404, "unknown_instance", "no such instance"),
    });
    expect((await folders.al(["kill", "dev-abcd2345"])).stderr).toContain("al history");
    expect((await folders.al(["kill", "reveiw-abcd2345"])).stderr).toBe(
      'error: there is no agent "reveiw"\nhint: did you mean "review"?\n',
    );
    expect((await folders.al(["kill", "nobody"])).stderr).toContain('no agent "nobody"');
  });
});

describe("al replay", () => {
  const receiptId = "0193a1b2-0000-7000-8000-000000000001";
  const result = { receiptId, replayId: "p", matched: [] as unknown[], reason: null };
  const path = `POST /api/webhooks/${receiptId}/replay`;
  const triggerPath = `POST /api/triggers/${receiptId}/replay`;

  test("tells what became of each agent", async () => {
    const matched = [
      { agent: "dev", outcome: "started", instanceId: "dev-abcd2345", triggerId: "1" },
      { agent: "ops", outcome: "rejected", triggerId: "2", reason: "agent disabled" },
    ];
    const { asked } = await serve({ [path]: () => ({ ...result, matched }) });
    expect(await folders.al(["replay", receiptId])).toMatchObject({
      code: 0,
      stdout: "dev started: dev-abcd2345\nops rejected: agent disabled\n",
    });
    expect(asked).toEqual([path]);
  });

  test("--agent asks for that agent only", async () => {
    let query = "";
    const matched = [{ agent: "dev", outcome: "queued", triggerId: "1" }];
    await serve({
      [path]: (request) => ((query = request.query.toString()), { ...result, matched }),
    });
    const { code, stdout } = await folders.al(["replay", receiptId, "-a", "dev", "--json"]);
    expect({ code, query }).toEqual({ code: 0, query: "agent=dev" });
    expect(JSON.parse(stdout)).toEqual({ ...result, matched });
  });

  test("fails when nothing ran, and says why", async () => {
    const reason = "agent dev: repos does not include acme/x";
    await serve({ [path]: () => ({ ...result, reason }) });
    const { code, stdout, stderr } = await folders.al(["replay", receiptId]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: `nothing ran: ${reason}\n`,
    });
  });

  test("runs the work of a history entry again when there is no receipt of that id", async () => {
    const replayed = { agent: "dev", outcome: "queued", triggerId: "2", replayOf: receiptId };
    const { asked } = await serve({
      [path]: (_request, response) => problem(response, 404, "unknown_receipt", "no receipt"),
      [triggerPath]: () => ({ ...result, receiptId: null, matched: [replayed] }),
    });
    expect(await folders.al(["replay", receiptId])).toMatchObject({
      code: 0,
      stdout: "dev queued\n",
    });
    expect(asked).toEqual([path, triggerPath]);
  });

  test("says where ids are found when there is no such one", async () => {
    await serve({
      [path]: (_request, response) => problem(response, 404, "unknown_receipt", "no receipt"),
      [triggerPath]: (_request, response) => problem(response, 404, "unknown_trigger", "none"),
    });
    const { code, stderr } = await folders.al(["replay", receiptId]);
    expect(code).toBe(1);
    expect(stderr).toContain("al history --json");
  });
});
