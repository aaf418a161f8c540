import { existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Ticket } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { relayServer } from "../../../../src/runtime/cluster/door-relay.ts";
import { refusal } from "../../../../src/runtime/run-api/protocol.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { pause } from "../../../helpers/pause.ts";
import { post } from "../../run-api/support.ts";
import { remoteSide } from "./remote-side.ts";
import { shell, startRemoteRun } from "./start-remote-run.ts";

/** A process that was killed ends when it is next given the processor. */
function expectEnded(pid: string | undefined) {
  const status = `/proc/${pid}/status`;
  const isAlive = () => existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"));
  return expect.poll(isAlive).toBe(false);
}

const never = () => new Promise<never>(() => undefined);
const untilTerm = (onTerm: string) =>
  shell(`trap '${onTerm}' TERM; echo ready; while :; do sleep 0.1; done`);
const escaping = "setsid sleep 600 & echo $!";

describe("al _remote-run", () => {
  test("gives its process the job with a token and a socket of its own, and sends the output in order and its end", async () => {
    await using side = await remoteSide();
    const script = 'printf "%s\\n" "$job"; echo "$AL_INSTANCE"; exit 3';
    using run = startRemoteRun(side.ticket, shell(script));
    expect(await run.ended).toBe(0);
    const [job = "", instance, ...others] = side.log();
    const channel = {
      socket: join(run.socketDir, "channel.sock"),
      token: expect.stringMatching(/^[\w-]{30,}$/) as string,
    };
    expect(JSON.parse(job)).toMatchObject({ agent: "dev", instanceId: instance, channel });
    expect(others).toEqual([]);
    const end = { exitCode: 3, signal: null, outOfMemory: false, rejected: null };
    expect(side.ends()).toEqual([end]);
    expect(run.err()).toBe("");
  });

  test("exits silently if another process claimed the run or it has ended", async () => {
    await using side = await remoteSide();
    using first = startRemoteRun(side.ticket, shell("sleep 600"));
    await expect.poll(() => side.remote.claims).toHaveLength(1);
    using second = startRemoteRun(side.ticket, shell("echo twice"));
    expect(await second.ended).toBe(0);
    side.fence();
    expect(await first.ended).toBe(0);
    using third = startRemoteRun(side.ticket, shell("echo twice"));
    expect(await third.ended).toBe(0);
    expect(side.log()).toEqual([]);
  });

  test("trusts only the server with the certificate of its ticket", async () => {
    await using side = await remoteSide();
    let connections = 0;
    const relay = relayServer(side.ticket.door).on("connection", () => (connections += 1));
    await once(relay.listen(0, "127.0.0.1"), "listening");
    const door = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
    const ticket = { ...side.ticket, door, certificate: testCertificate.cert };
    using run = startRemoteRun(ticket, shell("echo one"));
    await expect.poll(() => connections).toBeGreaterThan(1);
    relay.close();
    expect(side.remote.claims).toEqual([]);
    expect(run.child.exitCode).toBeNull();
  });

  test("passes the requests of its process to the door", async () => {
    await using side = await remoteSide();
    using run = startRemoteRun(side.ticket, shell('printf "%s\\n" "$job"; sleep 600'));
    await expect.poll(() => side.log()).toHaveLength(1);
    const { channel } = JSON.parse(side.log()[0] ?? "") as { channel: Parameters<typeof post>[0] };
    expect(await post(channel, "unlock")).toMatchObject({ status: 200 });
    expect(side.abilities.asked).toMatchObject([{ ability: "unlock" }]);
    side.fence();
    await run.ended;
  });

  test("asks its process to end, with the reason beside the socket, and kills it after the grace period", async () => {
    await using side = await remoteSide();
    using run = startRemoteRun(side.ticket, untilTerm("cat stop-reason; echo"));
    await expect.poll(() => side.log()).toEqual(["ready"]);
    side.stop("timed_out", 700);
    expect(await run.ended).toBe(0);
    expect(side.log()).toContain("timed_out");
    expect(side.ends()).toMatchObject([{ exitCode: null, signal: "SIGKILL" }]);
  });

  test("ends the remaining processes before it sends the end", async () => {
    await using side = await remoteSide();
    using run = startRemoteRun(side.ticket, shell(escaping));
    expect(await run.ended).toBe(0);
    await expectEnded(side.log()[0]);
    expect(side.ends()).toHaveLength(1);
  });

  test("kills everything when the scheduler no longer knows the run", async () => {
    await using side = await remoteSide();
    const script = `trap '' TERM; ${escaping}; while :; do sleep 0.1; done`;
    using run = startRemoteRun(side.ticket, shell(script));
    await expect.poll(() => side.log()).toHaveLength(1);
    side.fence();
    expect(await run.ended).toBe(0);
    await expectEnded(side.log()[0]);
    expect(side.ends()).toEqual([]);
  });

  test("kills everything without an answer for most of its lease", async () => {
    await using side = await remoteSide(6);
    using run = startRemoteRun(side.ticket, shell(`${escaping}; sleep 600`));
    await expect.poll(() => side.log()).toHaveLength(1);
    Object.assign(side.remote, { lines: never, inbox: never });
    expect(await run.ended).toBe(4);
    await expectEnded(side.log()[0]);
    expect(run.err()).toMatch(/no answer of the scheduler/);
  });

  test("keeps a silent run alive under a short lease", async () => {
    await using side = await remoteSide(3);
    using run = startRemoteRun(side.ticket, shell("sleep 5; echo late"));
    expect(await run.ended).toBe(0);
    expect(side.log()).toEqual(["late"]);
  });

  test("reports a program that cannot be started", async () => {
    await using side = await remoteSide();
    using run = startRemoteRun(side.ticket, ["/nonexistent/program"]);
    expect(await run.ended).toBe(0);
    expect(side.ends()[0]?.rejected).toMatch(/cannot be started.*ENOENT/);
  });

  test("reads at most 4 MiB more of its process than the scheduler has stored, and sends all of it in the end", async () => {
    await using side = await remoteSide();
    const script = `const fs = require("node:fs");
      for (let n = 0; n < 100_000; n += 1) fs.writeSync(1, n + "x".repeat(250) + "\\n");
      fs.writeFileSync("written", "");`;
    const take = side.remote.lines.bind(side.remote);
    side.remote.lines = () => Promise.reject(refusal("unavailable", "the disk is full"));
    using run = startRemoteRun(side.ticket, [process.execPath, "--eval", script]);
    await pause(1_500, "the process must not write its 25 MB");
    expect(existsSync(join(run.socketDir, "written"))).toBe(false);
    const status = readFileSync(`/proc/${run.child.pid}/status`, "utf8");
    expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(140_000);
    side.remote.lines = take;
    expect(await run.ended).toBe(0);
    expect(side.log()).toHaveLength(100_000);
    expect(side.log().findIndex((line, n) => !line.startsWith(`${n}x`))).toBe(-1);
    expect(side.ends()).toMatchObject([{ exitCode: 0 }]);
  });

  test("ends without a report when the machine takes it away, so that the run is lost and starts once more", async () => {
    await using side = await remoteSide();
    using run = startRemoteRun(side.ticket, untilTerm("cat stop-reason; echo; exit 1"));
    await expect.poll(() => side.log()).toEqual(["ready"]);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(143);
    expect(side.log()).toContain("interrupted");
    expect(side.ends()).toEqual([]);
  });

  test("rejects an invalid ticket without repeating it", async () => {
    const ticket = { certificate: "c", name: "n", ticket: "very-secret" } as Ticket;
    using run = startRemoteRun(ticket, shell("echo one"));
    expect(await run.ended).toBe(1);
    expect(run.err()).toMatch(/the run's ticket in standard input is not valid: door/);
    expect(run.err()).not.toContain("very-secret");
  });
});
