import type { ServerResponse } from "node:http";
import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, eventStream, problem, snapshotOf, type Routes } from "./fake-operator.ts";

const cli = cliProject();

const instanceId = "dev-abcd2345";
/** Where the trigger itself is asked for: a page of the history holds only so many newer ones. */
const lookUp = "GET /api/stats/triggers/t1/calls";

function entry(rest: object) {
  return {
    id: "t1",
    at: new Date().toISOString(),
    kind: "manual",
    agent: "dev",
    instanceId,
    outcome: null,
    exitCode: null,
    reason: null,
    durationMs: null,
    ...rest,
  };
}

function line(msg: string, rest: object = {}) {
  return { level: 30, time: Date.now(), msg, agent: "dev", instanceId, kind: "said", ...rest };
}

/** Writes the log of today. */
function writeLog(entry: object): void {
  const day = new Date().toISOString().slice(0, 10);
  cli.write(`.al/logs/dev-${day}.log`, `${JSON.stringify(entry)}\n`);
}

/** A run that says hello and ends as `end` says; `looks` answers to the history come before that. */
function aRun(end: object, looks = 1, more: Routes = {}): Routes {
  let looked = 0;
  return {
    "POST /control/trigger/dev": () => ({
      success: true,
      agent: "dev",
      triggerId: "t1",
      instanceId,
      queued: false,
    }),
    [lookUp]: () => ({ entries: [entry(looked++ < looks ? {} : end)] }),
    "GET /dashboard/api/logs/dev/stream": (_request, response) => {
      const send = eventStream(response);
      send("log", "f:1", line("hello"));
      send("log", "f:2", line("the end", { kind: "run", outcome: "succeeded" }));
    },
    ...more,
  };
}

test.each([
  [{ outcome: "succeeded", exitCode: 0 }, 0],
  [{ outcome: "failed", exitCode: 3 }, 3],
  [{ outcome: "failed", exitCode: null }, 1],
  [{ outcome: "timed_out", exitCode: 143 }, 124],
  [{ outcome: "killed", exitCode: null }, 137],
  [{ outcome: "out_of_memory", exitCode: 137 }, 137],
  [{ outcome: "lost", exitCode: null }, 1],
  [{ outcome: "over_budget", exitCode: 125 }, 125],
  [{ outcome: "rejected", exitCode: null, reason: "budget: it is used up" }, 125],
])("al run prints the run's log and exits for %j with %i", async (end, code) => {
  await cli.serve(aRun(end));
  const ran = await cli.al(["run", "dev"]);
  expect(ran.code).toBe(code);
  expect(ran.stdout).toContain("hello");
  expect(ran.stderr).toContain(`${instanceId} ${end.outcome}`);
});

test("al run forwards the prompt", async () => {
  let body: unknown;
  const routes = aRun({ outcome: "succeeded" });
  const trigger = routes["POST /control/trigger/dev"];
  routes["POST /control/trigger/dev"] = (request, response) => {
    body = request.body;
    return trigger?.(request, response);
  };
  await cli.serve(routes);
  await cli.al(["run", "dev", "--prompt", "be brief"]);
  expect(body).toEqual({ prompt: "be brief" });
});

test("--detach prints the run's id and how to follow it, and does not wait for its end", async () => {
  await cli.serve(aRun({}, Infinity));
  const { code, stdout, stderr } = await cli.al(["run", "dev", "--detach"]);
  expect([code, stdout]).toEqual([0, `${instanceId}\n`]);
  expect(stderr).toContain(`al logs dev -i ${instanceId} -f follows it`);
  await cli.operator.close();
  expect(await cli.failure(["run", "dev", "-d"])).toContain("no scheduler is running");
});

test("--json prints only the result, and the log, which has the reason, on standard error", async () => {
  await cli.serve(aRun({ outcome: "failed", exitCode: 3, reason: "no such file" }));
  const { code, stdout, stderr } = await cli.al(["run", "dev", "--json"]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ triggerId: "t1", outcome: "failed" });
  expect(stderr).toContain("hello");
  expect(stderr).not.toContain("no such file");
});

test("al run waits for a queued run", async () => {
  const routes = aRun({ outcome: "succeeded" }, 3);
  routes["POST /control/trigger/dev"] = () => ({ triggerId: "t1", instanceId: null, queued: true });
  const look = routes[lookUp];
  let looked = 0;
  routes[lookUp] = (request, response) => {
    if (looked++ === 0) return { entries: [entry({ instanceId: null })] };
    return look?.(request, response);
  };
  await cli.serve(routes);
  const { code, stdout, stderr } = await cli.al(["run", "dev"]);
  expect(code).toBe(0);
  expect(stderr).toContain("waits for its turn");
  expect(stdout).toContain("hello");
});

test("a run is found behind any number of newer triggers and among its calls", async () => {
  const newer = Array.from({ length: 200 }, (_, n) => entry({ id: `newer-${n}` }));
  const own = entry({ outcome: "failed", exitCode: 3 });
  const routes = aRun({}, 0, {
    "GET /api/stats/triggers": () => ({ triggers: newer }),
    [lookUp]: () => ({ entries: [own, entry({ id: "call", outcome: "succeeded" })] }),
  });
  await cli.serve(routes);
  expect((await cli.al(["run", "dev"])).code).toBe(3);
});

test("a run that waits for an image that could not be built shows why", async () => {
  const routes = aRun({ outcome: "succeeded" }, 3);
  routes["POST /control/trigger/dev"] = () => ({ triggerId: "t1", instanceId: null, queued: true });
  const error = "the image al-dev could not be built: no such file";
  routes["GET /control/status"] = () =>
    snapshotOf([anAgentStatus("dev", { state: "error", error })]);
  await cli.serve(routes);
  const { stderr } = await cli.al(["run", "dev"]);
  expect(stderr).toContain(`the run waits for its turn; the error of dev: ${error}`);
});

test("a run that waits for money shows the limit, and how to raise it", async () => {
  const routes = aRun({ outcome: "succeeded" }, 3);
  routes["POST /control/trigger/dev"] = () => ({ triggerId: "t1", instanceId: null, queued: true });
  const endsAt = new Date(Date.now() + 7_230_000).toISOString();
  const day = { scope: "agent:dev", window: "2026-11-22", endsAt, usd: 5, limit: 5 } as const;
  const usedBudget = { ...day, onLimit: "pause" } as const;
  routes["GET /control/status"] = () =>
    snapshotOf([anAgentStatus("dev", { state: "waiting", blockedBy: "budget", usedBudget })]);
  await cli.serve(routes);
  const { stderr } = await cli.al(["run", "dev"]);
  expect(stderr).toContain("dev waits for money: $5.00 of its $5.00 a day is spent");
  expect(stderr).toContain("Raise it: al budget raise dev <usd>");
});

test("a run that was dropped before it began exits with 1 and its reason", async () => {
  const dropped = { instanceId: null, outcome: "dropped", reason: "queue_full" };
  const routes = aRun(dropped, 0);
  routes["POST /control/trigger/dev"] = () => ({ triggerId: "t1", instanceId: null, queued: true });
  await cli.serve(routes);
  const stderr = await cli.failure(["run", "dev"]);
  expect(stderr).toContain("dropped: queue_full");
});

test("a cut log stream resumes after its last line", async () => {
  const after: (string | string[] | undefined)[] = [];
  const stream = (
    request: { headers: NodeJS.Dict<string | string[]> },
    response: ServerResponse,
  ) => {
    after.push(request.headers["last-event-id"]);
    const send = eventStream(response);
    if (after.length === 1) {
      send("log", "f:1", line("first half"));
      setTimeout(() => response.destroy(), 50);
    } else {
      send("log", "f:2", line("second half"));
      send("log", "f:3", line("end", { kind: "run", outcome: "succeeded" }));
    }
  };
  await cli.serve(
    aRun({ outcome: "succeeded" }, 4, { "GET /dashboard/api/logs/dev/stream": stream }),
  );
  const stdout = await cli.output(["run", "dev"]);
  expect(after).toEqual([undefined, "f:1"]);
  expect(stdout.match(/first half/g)).toHaveLength(1);
  expect(stdout).toContain("second half");
});

test("a missing log does not hide how the run ended", async () => {
  const refuse = (_request: unknown, response: ServerResponse) =>
    problem(response, 503, "store_unavailable", "The log is not there.");
  await cli.serve(
    aRun({ outcome: "failed", exitCode: 5 }, 3, { "GET /dashboard/api/logs/dev/stream": refuse }),
  );
  const { code, stderr } = await cli.al(["run", "dev"]);
  expect(code).toBe(5);
  expect(stderr).toContain("the log cannot be followed any more: The log is not there.\n");
});

test("a scheduler that stops after the run leaves the end in the log", async () => {
  const end = line("run failed", { kind: "run", outcome: "failed", exitCode: 4, durationMs: 100 });
  const routes = aRun({}, 100);
  const look = routes[lookUp];
  routes["GET /dashboard/api/logs/dev/stream"] = (_request, response) => {
    eventStream(response)("log", "f:1", line("hello"));
  };
  routes[lookUp] = (request, response) => {
    writeLog(end);
    setTimeout(() => void cli.operator.close(), 50);
    return look?.(request, response);
  };
  await cli.serve(routes);
  const { code, stdout } = await cli.al(["run", "dev", "--json"]);
  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toMatchObject({ instanceId, outcome: "failed", durationMs: 100 });
});

test("a scheduler that hangs up during an answer leaves the run's end in the log", async () => {
  const end = line("killed", { kind: "run", outcome: "killed", exitCode: 137, durationMs: 100 });
  const routes = aRun({});
  routes["GET /dashboard/api/logs/dev/stream"] = (_request, response) => void eventStream(response);
  routes[lookUp] = (_request, response) => {
    writeLog(end);
    response.destroy();
  };
  await cli.serve(routes);
  const { code, stderr } = await cli.al(["run", "dev"]);
  expect({ code, stderr }).toEqual({ code: 137, stderr: `${instanceId} killed after 100 ms\n` });
});

test("a scheduler that stops before the run's end is an error", async () => {
  const routes = aRun({}, 100);
  const look = routes[lookUp];
  routes[lookUp] = (request, response) => {
    setTimeout(() => void cli.operator.close(), 50);
    return look?.(request, response);
  };
  await cli.serve(routes);
  const stderr = await cli.failure(["run", "dev"]);
  expect(stderr).toContain("no scheduler is running");
});

test("a disabled or unknown agent, and one without budget, is rejected with a hint", async () => {
  await cli.serve({
    "GET /control/status": () => snapshotOf([anAgentStatus("dev")]),
    "POST /control/trigger/dev": (_request, response) =>
      problem(response, 409, "disabled", "dev is disabled (al resume dev enables it)"),
    "POST /control/trigger/def": (_request, response) =>
      problem(response, 404, "unknown_agent", "no"),
    "POST /control/trigger/poor": (_request, response) =>
      problem(response, 409, "refused", "budget: al budget raise poor <usd>"),
  });
  expect(await cli.failure(["run", "poor"], 125)).toContain("al budget raise poor <usd>");
  const { stderr } = await cli.al(["run", "dev"]);
  expect(stderr).toBe("error: dev is disabled (al resume dev enables it)\n");
  expect((await cli.al(["run", "def"])).stderr).toContain('did you mean "dev"?');
});

test("control sequences of a log line don't reach the terminal", async () => {
  const stream = (_request: unknown, response: ServerResponse) => {
    const send = eventStream(response);
    send("log", "f:1", line("evil \u001b]0;title\u0007 \u009b31mtext"));
    send("log", "f:2", line("end", { kind: "run", outcome: "succeeded" }));
  };
  await cli.serve(
    aRun({ outcome: "succeeded" }, 1, { "GET /dashboard/api/logs/dev/stream": stream }),
  );
  const { stdout } = await cli.al(["run", "dev"]);
  expect(stdout).toContain("evil  text");
  expect(stdout).not.toMatch(/[\u001b\u0007\u009b\r]/);
});
