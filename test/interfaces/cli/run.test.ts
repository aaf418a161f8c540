import { anAgentStatus } from "../../helpers/agent-status.ts";
import {
  agentsOf,
  cliProject,
  eventStream,
  refusal,
  snapshotOf,
  type Routes,
} from "./fake-operator.ts";

const cli = cliProject();

const instanceId = "dev-abcd2345";
const trigger = "POST /control/trigger/dev";
/** Where the trigger itself is asked for: a page of the history holds only so many newer ones. */
const lookUp = "GET /api/stats/triggers/t1/calls";
const stream = "GET /dashboard/api/logs/dev/stream";

const going = {
  id: "t1",
  agent: "dev",
  instanceId,
  outcome: null,
  exitCode: null,
  reason: null,
  durationMs: null,
};
/** A call of the run, which ends before it. */
const call = { ...going, id: "t2", outcome: "succeeded" };

function line(msg: string, rest: object = {}) {
  return { level: 30, time: Date.now(), msg, agent: "dev", instanceId, kind: "said", ...rest };
}

/** Answers a look at the run, and stops the scheduler. */
const lastLook: Routes[string] = (_request, response) => {
  response.once("finish", () => void cli.operator.close());
  return { entries: [going] };
};

/** The last line of a run, with how it ended. */
function lastLine(end: object) {
  return line("the end", { kind: "run", exitCode: null, durationMs: 100, ...end });
}

/** A run that says hello and ends as `end` says; its history is asked for `looks` times before that. */
function aRun(end: object, more: Routes = {}, looks = 0): Routes {
  let looked = 0;
  return {
    [trigger]: { success: true, agent: "dev", triggerId: "t1", instanceId, queued: false },
    [lookUp]: () => ({ entries: [call, { ...going, ...(looked++ < looks ? {} : end) }] }),
    [stream]: (_request, response) => {
      const send = eventStream(response);
      send("log", "f:1", line("hello"));
      send("log", "f:2", lastLine({ outcome: "succeeded" }));
    },
    ...more,
  };
}

const succeeded = { outcome: "succeeded", exitCode: 0 };
const queued = { [trigger]: { triggerId: "t1", instanceId: null, queued: true } };

test.each([
  [succeeded, 0],
  [{ outcome: "failed", exitCode: 3 }, 3],
  [{ outcome: "failed", exitCode: null }, 1],
  [{ outcome: "timed_out", exitCode: 143 }, 124],
  [{ outcome: "killed", exitCode: null }, 137],
  [{ outcome: "out_of_memory", exitCode: 137 }, 137],
  [{ outcome: "lost", exitCode: null }, 1],
  [{ outcome: "over_budget", exitCode: 125 }, 125],
  [{ outcome: "rejected", exitCode: null, reason: "budget: it is used up" }, 125],
])("al run prints the run's log and exits after the outcome %j with %i", async (end, code) => {
  await cli.serve(aRun(end));
  const ran = await cli.al("run dev");
  expect(ran.code).toBe(code);
  expect(ran.stdout).toContain("hello");
  expect(ran.stderr).toContain(`${instanceId} ${end.outcome}`);
});

test("al run sends the prompt to the scheduler", async () => {
  const { routes } = await cli.serve(aRun(succeeded));
  const started = routes[trigger];
  let asked: unknown;
  routes[trigger] = ({ body }) => ((asked = body), started);
  await cli.output("run dev --prompt 'be brief'");
  expect(asked).toEqual({ prompt: "be brief" });
});

test("al run --detach prints the run's id and how to follow the run, without waiting for its end", async () => {
  await cli.serve(aRun({}));
  const { code, stdout, stderr } = await cli.al("run dev --detach");
  expect([code, stdout]).toEqual([0, `${instanceId}\n`]);
  expect(stderr).toContain(`al logs dev -i ${instanceId} -f`);
  await cli.operator.close();
  await cli.fails("run dev -d", "No scheduler is running");
});

test("al run --json prints only the result on standard output, and the log on standard error", async () => {
  await cli.serve(aRun({ outcome: "failed", exitCode: 3, reason: "no such file" }));
  const { code, stdout, stderr } = await cli.al("run dev --json");
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ triggerId: "t1", outcome: "failed" });
  expect(stderr).toContain("hello");
  expect(stderr).not.toContain("no such file");
});

test("al run waits for a queued run", async () => {
  const { routes } = await cli.serve(aRun(succeeded, queued, 1));
  const begun = routes[lookUp];
  routes[lookUp] = () => {
    routes[lookUp] = begun ?? {};
    return { entries: [{ ...going, instanceId: null }] };
  };
  const { code, stdout, stderr } = await cli.al("run dev");
  expect(code).toBe(0);
  expect(stderr).toContain("this run is queued");
  expect(stdout).toContain("hello");
});

const error = "the image al-dev could not be built: no such file";
const usedBudget = {
  scope: "agent:dev",
  window: "2026-11-22",
  endsAt: "2026-11-23T00:00:00.000Z",
  usd: 5,
  limit: 5,
  onLimit: "pause",
} as const;

test.each([
  [{ state: "error", error }, `this run is queued; dev has an error: ${error}`],
  [{ state: "waiting", usedBudget }, "Raise it: al budget raise dev <usd>"],
] as const)("al run shows why a run waits: %j", async (status, text) => {
  const snapshot = snapshotOf([anAgentStatus("dev", status)]);
  await cli.serve(aRun(succeeded, { ...queued, "GET /control/status": snapshot }));
  expect((await cli.al("run dev")).stderr).toContain(text);
});

test("al run fails with the reason why a run was dropped before it started", async () => {
  const dropped = { instanceId: null, outcome: "dropped", reason: "queue_full" };
  await cli.serve(aRun(dropped, queued));
  await cli.fails("run dev", "dropped: queue_full");
});

test("al run resumes an interrupted log stream after its last line", async () => {
  const after: unknown[] = [];
  const { routes } = await cli.serve(aRun(succeeded, {}, 2));
  routes[stream] = ({ headers }, response) => {
    after.push(headers["last-event-id"]);
    const send = eventStream(response);
    if (after.length === 1) {
      send("log", "f:1", line("first half"));
      response.socket?.destroySoon();
    } else {
      send("log", "f:2", line("second half"));
      send("log", "f:3", lastLine(succeeded));
    }
  };
  const stdout = await cli.output("run dev");
  expect(after).toEqual([undefined, "f:1"]);
  expect(stdout.match(/(first|second) half/g)).toEqual(["first half", "second half"]);
});

test("al run reports how a run ended even if the log is missing", async () => {
  const refused = refusal(503, "store_unavailable", "The log is not there.");
  await cli.serve(aRun({ outcome: "failed", exitCode: 5 }, { [stream]: refused }));
  await cli.fails("run dev", "the log can no longer be followed: The log is not there.\n", 5);
});

describe("al run reads in the log how a run ended", () => {
  beforeEach(async () => {
    await cli.serve(aRun({}));
    const day = new Date().toISOString().slice(0, 10);
    const end = JSON.stringify(lastLine({ outcome: "killed", exitCode: 137 }));
    cli.write(`.al/logs/dev-${day}.log`, `${end}\n`);
  });

  test("after which the scheduler stopped", async () => {
    cli.operator.routes[lookUp] = lastLook;
    const { code, stdout } = await cli.al("run dev --json");
    expect(code).toBe(137);
    expect(JSON.parse(stdout)).toMatchObject({ instanceId, outcome: "killed", durationMs: 100 });
  });

  test("if the scheduler disconnects during a response", async () => {
    cli.operator.routes[lookUp] = (_request, response) => void response.destroy();
    const stderr = await cli.failure("run dev", 137);
    expect(stderr).toBe(`${instanceId} killed after 100 ms\n`);
  });
});

test("al run fails if its scheduler stops before the run's end", async () => {
  await cli.serve(aRun({}, { [lookUp]: lastLook }));
  await cli.fails("run dev", "No scheduler is running");
});

test("al run of an agent without budget exits with 125 and names the way to raise it", async () => {
  const refused = refusal(409, "refused", "budget: al budget raise dev <usd>");
  await cli.serve({ ...agentsOf("dev"), [trigger]: refused });
  await cli.fails("run dev", /al budget raise dev <usd>/, 125);
});

test.each([
  [
    "a run continues, how to follow it, and how to end it",
    instanceId,
    /hello/,
    `The run continues in the scheduler. Follow it with \`al logs dev -i ${instanceId} -f\`, or end it with \`al kill ${instanceId}\`.\n`,
  ],
  [
    "a queued run still waits",
    null,
    /this run is queued/,
    "Queued. Track it with `al history -a dev`.",
  ],
])("Ctrl-C during al run prints that %s", async (_what, started, when, text) => {
  const waits = started === null;
  await cli.serve({
    ...agentsOf("dev"),
    [trigger]: { triggerId: "t1", instanceId: started, queued: waits },
    [lookUp]: { entries: [{ ...going, instanceId: started }] },
    [stream]: (_request, response) => {
      eventStream(response)("log", "f:1", line("hello"));
    },
  });
  const { code, stderr } = await cli.interrupt("run dev", when);
  expect(code).toBe(130);
  expect(stderr).toContain(text);
});
