import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ticket } from "../../../../src/runtime/wire/remote-protocol.ts";
import { relayServer } from "../../../../src/runtime/cluster/door-relay.ts";
import { refusal } from "../../../../src/runtime/wire/protocol.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { listen } from "../../../helpers/listen.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { pause } from "../../../helpers/pause.ts";
import { remoteSide } from "./remote-side.ts";
import { shell, startRemoteRun } from "./start-remote-run.ts";

/** A process that was killed ends when it is next given the processor. */
function expectEnded(pid: string | undefined) {
  const status = `/proc/${pid}/status`;
  const isAlive = () => existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
  return expect.poll(isAlive).toBe(false);
}

const side = perTest(remoteSide, (side) => side.remove());
const never = () => new Promise<never>(() => undefined);
const isReady = () => expect.poll(side().log).toEqual(["ready"]);
const hasOneLine = () => expect.poll(side().log).toHaveLength(1);
const untilTerm = (onTerm: string) =>
  `trap '${onTerm}' TERM; echo ready; while :; do sleep 0.1; done`;
const escaping = "setsid sleep 600 & echo $!";

/** A shell script as the run's process, or a program. */
function start(script: string | readonly string[], ticket: Ticket = side().ticket) {
  const run = startRemoteRun(ticket, typeof script === "string" ? shell(script) : script);
  onTestFinished(() => run[Symbol.dispose]());
  return run;
}

describe("al _remote-run", () => {
  test("exits silently if another process claimed the run or it has ended", async () => {
    const first = start("sleep 600");
    await expect.poll(() => side().remote.claims).toHaveLength(1);
    expect(await start("echo twice").ended).toBe(0);
    side().fence();
    expect(await first.ended).toBe(0);
    expect(await start("echo twice").ended).toBe(0);
    expect(side().log()).toEqual([]);
  });

  test("trusts only the server with the certificate of its ticket", async () => {
    let connections = 0;
    const relay = relayServer(side().ticket.door).on("connection", () => (connections += 1));
    const door = `127.0.0.1:${await listen(relay)}`;
    const run = start("echo one", { ...side().ticket, door, certificate: testCertificate.cert });
    await expect.poll(() => connections).toBeGreaterThan(1);
    relay.close();
    expect(side().remote.claims).toEqual([]);
    expect(run.child.exitCode).toBeNull();
  });

  test("asks its process to end with the reason, and kills it after the grace period", async () => {
    const run = start(untilTerm("cat stop-reason; echo"));
    await isReady();
    side().stop("timed_out", 700);
    expect(await run.ended).toBe(0);
    expect(side().log()).toContain("timed_out");
    expect(side().ends()).toMatchObject([{ exitCode: null, signal: "SIGKILL" }]);
  });

  test("kills everything when the scheduler no longer knows the run", async () => {
    const run = start(`trap '' TERM; ${escaping}; while :; do sleep 0.1; done`);
    await hasOneLine();
    side().fence();
    expect(await run.ended).toBe(0);
    await expectEnded(side().log()[0]);
    expect(side().ends()).toEqual([]);
  });

  test("kills everything without an answer for most of its lease", async () => {
    side().leaseSeconds = 6;
    const run = start(`${escaping}; sleep 600`);
    await hasOneLine();
    Object.assign(side().remote, { lines: never, inbox: never });
    expect(await run.ended).toBe(4);
    await expectEnded(side().log()[0]);
    expect(run.err()).toMatch(/no response from the scheduler/);
  });

  test("keeps a silent run alive under a short lease", async () => {
    side().leaseSeconds = 3;
    expect(await start("sleep 5; echo late").ended).toBe(0);
    expect(side().log()).toEqual(["late"]);
  });

  test("reports a program that cannot be started", async () => {
    expect(await start(["/nonexistent/program"]).ended).toBe(0);
    expect(side().ends()[0]?.rejected).toMatch(/cannot be started.*ENOENT/);
  });

  test("reads at most 4 MiB ahead of the scheduler, and loses nothing", async () => {
    const script = `const fs = require("node:fs");
      for (let n = 0; n < 100_000; n += 1) fs.writeSync(1, n + "x".repeat(250) + "\\n");
      fs.writeFileSync("written", "");`;
    const { remote, log, ends } = side();
    const take = remote.lines.bind(remote);
    remote.lines = () => Promise.reject(refusal("unavailable", "the disk is full"));
    const run = start([process.execPath, "--eval", script]);
    await pause(1_500, "the process must not write its 25 MB");
    expect(existsSync(join(run.socketDir, "written"))).toBe(false);
    const status = readFileSync(`/proc/${run.child.pid}/status`, "utf8");
    expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(140_000);
    remote.lines = take;
    expect(await run.ended).toBe(0);
    expect(log()).toHaveLength(100_000);
    expect(log().findIndex((line, n) => !line.startsWith(`${n}x`))).toBe(-1);
    expect(ends()).toMatchObject([{ exitCode: 0 }]);
  });

  test("ends without a report when the machine takes it away", async () => {
    const run = start(untilTerm("cat stop-reason; echo; exit 1"));
    await isReady();
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(143);
    expect(side().log()).toContain("interrupted");
    expect(side().ends()).toEqual([]);
  });

  test("rejects an invalid ticket without repeating it", async () => {
    const ticket = { certificate: "c", name: "n", ticket: "very-secret" } as Ticket;
    const run = start("echo one", ticket);
    expect(await run.ended).toBe(1);
    expect(run.err()).toMatch(/the run's ticket in \S+\/ticket is not valid: door/);
    expect(run.err()).not.toContain("very-secret");
  });
});
