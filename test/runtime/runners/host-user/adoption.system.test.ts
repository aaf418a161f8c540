import { execFileSync, spawn } from "node:child_process";
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, map, NEVER, Subject, take, tap, toArray } from "rxjs";
import { questionLimits } from "../../../../src/foundation/contracts/questions.ts";
import { identityOf } from "../../../../src/runtime/runners/host-user/process-identity.ts";
import {
  closeLog,
  createLog,
  logPathOf,
  readRunRecord,
  writeRunRecord,
} from "../../../../src/runtime/runners/host-user/run-files.ts";
import { anyAgent, sudoersRule } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { RunnerEvent, StopReason } from "../../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../../streams/vocabulary.ts";
import { exitOf, messagesOf, until } from "../contract.ts";
import { tempUser, whyNoOsUsers, withSudoersRule, type OsUser } from "../../../helpers/os-users.ts";
import { end, forever, log } from "../shell-runs.ts";
import { eventsOf, remoteScheduler } from "./remote-runner.ts";
import { aRequest, aRunner, supervisorProgram, leftovers, projectDir } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const missing = whyNoOsUsers();
if (missing !== null) {
  process.stderr.write(`skipped: adoption of runs as another OS user (${missing})\n`);
}

let root: string;
let baseDir: string;
beforeEach(async () => {
  root = tempDir();
  await chmod(root, 0o755);
  baseDir = join(root, "runs");
});

/** A run of ten lines that waits for a file before it goes on with its second half. */
const gated = (gate: string) =>
  [
    ...["1", "2", "3"].map(log),
    `echo raw; echo raw`,
    `while [ ! -e ${gate} ]; do sleep 0.05; done`,
    ...["4", "5"].map(log),
    end(),
  ].join("\n");

/** Starts a run in a scheduler of its own and kills that after `lines` lines; resolves to its reports. */
async function crashed(
  user: OsUser | null,
  request: RunRequest,
  lines: number,
): Promise<readonly RunnerEvent[]> {
  const scheduler = remoteScheduler(user, { baseDir, request });
  // Before it hears that nobody listens any more: then it would end the run.
  const killed = map((event: RunnerEvent, index: number) => {
    if (index === lines - 1) scheduler.kill("SIGKILL");
    return event;
  });
  return lastValueFrom(eventsOf(() => scheduler, NEVER).pipe(killed, take(lines), toArray()));
}

function lastEntry(events: readonly RunnerEvent[]): LogEntry | null {
  const entries = events.flatMap((event) => (event.type === "output" ? [event.entry] : []));
  return entries.at(-1) ?? null;
}

const collect = (run$: ReturnType<typeof eventsOf>) => lastValueFrom(run$.pipe(toArray()));

test("a run whose scheduler was killed, as the scheduler's user continues, and the next scheduler adopts it after the last logged line", async () => {
  const gate = join(root, "gate");
  const request = aRequest(gated(gate));
  const seen = await crashed(null, request, 4);
  expect(messagesOf(seen)).toEqual(["1", "2", "3", "raw"]);
  const runner = aRunner(baseDir);
  expect(await runner.adopt([request.instanceId, "dev-unknown1"])).toEqual([
    { instanceId: request.instanceId, agent: request.agent },
  ]);
  const resumed = collect(runner.resume({ request, last: lastEntry(seen) }, NEVER));
  await writeFile(gate, "");
  const events = await resumed;
  expect(messagesOf(events).slice(-2)).toEqual(["4", "5"]);
  expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null, usage: { tokens: 7 } });
  expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
});

test("a run whose scheduler was killed, as the scheduler's user is reported from its beginning if no line was logged", async () => {
  const request = aRequest(`${log("1")}; ${log("2")}; ${end()}`);
  await crashed(null, request, 1);
  const events = await collect(aRunner(baseDir).resume({ request, last: null }, NEVER));
  expect(messagesOf(events)).toEqual(["1", "2"]);
});

test("a run whose scheduler was killed, as the scheduler's user that ended in between is reported with its end and its time", async () => {
  const request = aRequest(`${log("1")}; sleep 0.3; ${log("2")}; ${end("tired")}; exit 4`);
  const before = Date.now();
  const seen = await crashed(null, request, 1);
  await until(async () => (await readLog(request)).includes(" end "));
  const after = Date.now();
  const runner = aRunner(baseDir);
  expect(await runner.adopt([request.instanceId])).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const events = await collect(runner.resume({ request, last: lastEntry(seen) }, NEVER));
  const exit = exitOf(events);
  expect(messagesOf(events)).toEqual(["2"]);
  expect(exit).toMatchObject({ exitCode: 4, error: "tired" });
  expect(exit.endedAt).toBeGreaterThan(before);
  expect(exit.endedAt).toBeLessThanOrEqual(after);
});

test("a run whose scheduler was killed, as the scheduler's user can be stopped or unsubscribed by the next scheduler", async () => {
  for (const how of ["stop", "leave"] as const) {
    const request = aRequest(`env -i setsid sleep 300 & trap '' TERM; ${log("ready")}; ${forever}`);
    await crashed(null, request, 1);
    const stop$ = new Subject<StopReason>();
    const run$ = aRunner(baseDir).resume({ request, last: null }, stop$);
    if (how === "leave") await lastValueFrom(run$.pipe(take(1)));
    else {
      const exit = exitOf(await collect(run$.pipe(tap(() => stop$.next("killed")))));
      expect(exit.signal).toBe("SIGKILL");
    }
    await until(async () => (await leftovers(baseDir, request.instanceId)).length === 0);
  }
});

test("a run whose scheduler was killed, as the scheduler's user and whose supervisor was killed too is not found, and leaves nothing", async () => {
  const request = aRequest(`${log("ready")}; trap '' TERM; ${forever}`);
  await crashed(null, request, 1);
  const record = await readRunRecord(logPathOf(baseDir, request.instanceId));
  process.kill(record?.process.pid ?? 0, "SIGKILL");
  await until(async () => (await aRunner(baseDir).adopt([request.instanceId])).length === 0);
  expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
});

test("a run whose scheduler was killed, as the scheduler's user is lost when its supervisor dies under the next scheduler", async () => {
  const request = aRequest(`${log("ready")}; ${forever}`);
  await crashed(null, request, 1);
  const record = await readRunRecord(logPathOf(baseDir, request.instanceId));
  const run$ = aRunner(baseDir).resume({ request, last: null }, NEVER);
  const kill = () => process.kill(record?.process.pid ?? 0, "SIGKILL");
  const exit = exitOf(await collect(run$.pipe(tap(({ type }) => type === "output" && kill()))));
  expect(exit).toMatchObject({ lost: true, exitCode: null });
  expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
});

test("a run whose scheduler was killed, as the scheduler's user costs no attempt if it never began", async () => {
  const request = aRequest("echo hi");
  await mkdir(baseDir);
  const supervisor = spawn("sleep", ["300"]);
  const logFd = createLog(logPathOf(baseDir, request.instanceId));
  const identity = identityOf(supervisor.pid ?? 0);
  writeRunRecord(logFd, { agent: request.agent, project: projectDir, process: identity });
  closeLog(logFd);
  const events = collect(aRunner(baseDir).resume({ request, last: null }, NEVER));
  supervisor.kill("SIGKILL");
  expect(exitOf(await events)).toMatchObject({ blocked: true });
});

test("a run whose scheduler was killed, as the scheduler's user is not mistaken for a process that got its number later", async () => {
  const request = aRequest(`${log("ready")}; ${end()}`);
  await collect(aRunner(baseDir).run(request, NEVER));
  const path = logPathOf(baseDir, request.instanceId);
  const [record = ""] = (await readLog(request)).split("\n");
  const another = record.replace(/"process":\{"pid":\d+/, `"process":{"pid":${process.pid}`);
  expect(another).not.toBe(record);
  await rm(path);
  await appendFile(path, `${another}\n`);
  expect(await aRunner(baseDir).adopt([request.instanceId])).toEqual([]);
});

test("a run whose scheduler was killed, as the scheduler's user ends by itself at its timeout if no scheduler returns", async () => {
  const timeoutSeconds = -12.5 - questionLimits.seconds;
  const times = { timeoutSeconds, waitTimeoutSeconds: 0.3 };
  const request = aRequest(`${log("ready")}; ${forever}`, times);
  await crashed(null, request, 1);
  await until(async () => (await readLog(request)).includes(" end "));
  expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
});

function readLog({ instanceId }: RunRequest): Promise<string> {
  return readFile(logPathOf(baseDir, instanceId), "utf8");
}

describe.skipIf(missing !== null)("a run as another OS user whose scheduler was killed", () => {
  let agentUser: OsUser;
  let schedulerUser: OsUser;
  let takeRuleOut: () => Promise<void>;
  beforeAll(async () => {
    agentUser = await tempUser();
    schedulerUser = await tempUser();
    const { name: runAs } = agentUser;
    const program = supervisorProgram(anyAgent);
    takeRuleOut = await withSudoersRule(
      sudoersRule({ scheduler: schedulerUser.name, runAs, program }),
    );
  });
  afterAll(async () => {
    await takeRuleOut();
    await agentUser.remove();
    await schedulerUser.remove();
  });
  beforeEach(async () => {
    const id = execFileSync("id", ["-u", schedulerUser.name], { encoding: "utf8" });
    await chown(root, Number(id), 0);
  });
  const requestAs = (title: string) =>
    aRequest(title, { runtime: { type: "host-user", runAs: agentUser.name } });
  const resumed = (request: RunRequest, last: LogEntry | null, stop$ = new Subject<StopReason>()) =>
    eventsOf(() => remoteScheduler(schedulerUser, { baseDir, request, resume: { last } }), stop$);

  test("is adopted by the next unprivileged one", async () => {
    const gate = join(root, "gate");
    const request = requestAs(gated(gate));
    const seen = await crashed(schedulerUser, request, 3);
    const events = collect(resumed(request, lastEntry(seen)));
    await writeFile(gate, "");
    expect(messagesOf(await events)).toEqual(["raw", "raw", "4", "5"]);
    expect(exitOf(await events)).toMatchObject({ exitCode: 0, error: null });
    expect(await readdir(baseDir)).toEqual([`${request.instanceId}.log`]);
  });

  test("can be killed by the next unprivileged one, with all its processes", async () => {
    const request = requestAs(
      `env -i setsid sleep 300 & trap '' TERM; ${log("ready")}; ${forever}`,
    );
    await crashed(schedulerUser, request, 1);
    const stop$ = new Subject<StopReason>();
    const events = await collect(
      resumed(request, null, stop$).pipe(tap(() => stop$.next("killed"))),
    );
    expect(exitOf(events).exitCode).not.toBe(0);
    expect(await leftovers(baseDir, request.instanceId)).toEqual([]);
  });
});
