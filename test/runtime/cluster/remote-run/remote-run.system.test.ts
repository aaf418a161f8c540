import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Ticket } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { certificateAuthority } from "../../../helpers/certificate-authority.ts";
import { scriptedDoor } from "./scripted-door.ts";
import { eventually, jobOf, shell, startRemoteRun } from "./start-remote-run.ts";

const newDoor = (leaseSeconds = 30) =>
  scriptedDoor({ job: jobOf(`dev-${randomUUID()}`), leaseSeconds });

/** A process that was killed ends when it is next given the processor. */
function expectEnded(pid: number): Promise<void> {
  const isAlive = () =>
    existsSync(`/proc/${pid}/status`) &&
    !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  return eventually(() => expect(isAlive()).toBe(false));
}

test("al _remote-run claims the job, sends the output in order and its end, and exits once the run has ended", async () => {
  await using door = await newDoor();
  using run = startRemoteRun(door.ticket, shell('echo one; echo "$AL_INSTANCE"; exit 3'));
  expect(await run.ended).toBe(0);
  expect(door.log()).toEqual(["one", expect.stringMatching(/^dev-/)]);
  expect(door.ends).toEqual([{ exitCode: 3, signal: null, outOfMemory: false, rejected: null }]);
  expect(run.err()).toBe("");
});

test("al _remote-run gives its process the job with the token and a socket of its own", async () => {
  await using door = await newDoor();
  using run = startRemoteRun(door.ticket, shell('printf "%s\\n" "$job"; printf %s "$job" >&2'));
  expect(await run.ended).toBe(0);
  const job = JSON.parse(door.log()[0] ?? "") as Record<string, unknown>;
  const socket = join(run.socketDir, "channel.sock");
  expect(job).toMatchObject({ agent: "dev", channel: { socket } });
  expect(job).toHaveProperty("channel.token", expect.stringMatching(/^[\w-]{30,}$/));
});

test("al _remote-run exits silently if another process claimed the run or it has ended", async () => {
  await using door = await newDoor();
  using first = startRemoteRun(door.ticket, shell("sleep 60"));
  await eventually(() => expect(door.claims).toHaveLength(1));
  using second = startRemoteRun(door.ticket, shell("echo twice"));
  expect(await second.ended).toBe(0);
  door.fence();
  expect(await first.ended).toBe(0);
  using third = startRemoteRun({ ...door.ticket, ticket: "of no run" }, shell("echo twice"));
  expect(await third.ended).toBe(0);
  expect(door.log()).toEqual([]);
});

test("al _remote-run repeats a claim under the same id when the answer is lost", async () => {
  await using door = await newDoor();
  const faults = ["cut-before", "cut-after", "unavailable"] as const;
  let asked = 0;
  door.fault = (path) => (path === "/remote/claim" ? (faults[asked++] ?? null) : null);
  using run = startRemoteRun(door.ticket, shell("echo one"));
  expect(await run.ended).toBe(0);
  expect(new Set(door.claims).size).toBe(1);
  expect(door.claims).toHaveLength(2);
  expect(door.log()).toEqual(["one"]);
});

test("al _remote-run trusts only the server with the certificate of its ticket", async () => {
  await using door = await newDoor();
  const other = certificateAuthority();
  using run = startRemoteRun({ ...door.ticket, certificate: other.cert }, shell("echo one"));
  other.remove();
  await eventually(() => expect(door.counts.connections).toBeGreaterThan(1));
  expect(door.counts.requests).toBe(0);
  expect(run.child.exitCode).toBeNull();
});

test("al _remote-run passes the requests of its process to the door by a connection for each", async () => {
  await using door = await scriptedDoor({
    job: jobOf(`dev-${randomUUID()}`),
    onOther: (asked, answer) => answer.end(JSON.stringify({ path: asked.url })),
  });
  using run = startRemoteRun(door.ticket, shell("sleep 60"));
  await eventually(() => expect(door.claims).toHaveLength(1));
  const socketPath = join(run.socketDir, "channel.sock");
  await eventually(async () => {
    const sent = request({ socketPath, path: "/run/lock", method: "POST" }).end("{}");
    const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
    expect(await json(answer)).toEqual({ path: "/run/lock" });
  });
  door.fence();
  await run.ended;
});

test("al _remote-run asks its process to end, with the reason beside the socket, and kills it after the grace period", async () => {
  await using door = await newDoor();
  const script = `trap 'cat stop-reason; echo' TERM; echo ready; while :; do sleep 0.1; done`;
  using run = startRemoteRun(door.ticket, shell(script));
  await eventually(() => expect(door.log()).toEqual(["ready"]));
  door.stop({ reason: "timed_out", graceMs: 700 });
  expect(await run.ended).toBe(0);
  expect(door.log()).toContain("timed_out");
  expect(door.ends).toEqual([
    { exitCode: null, signal: "SIGKILL", outOfMemory: false, rejected: null },
  ]);
});

test("al _remote-run ends the remaining processes before it sends the end", async () => {
  await using door = await newDoor();
  using run = startRemoteRun(door.ticket, shell("setsid sleep 60 & echo $!"));
  expect(await run.ended).toBe(0);
  await expectEnded(Number(door.log()[0]));
  expect(door.ends).toHaveLength(1);
});

test("al _remote-run kills everything when the scheduler no longer knows the run", async () => {
  await using door = await newDoor();
  const script = "trap '' TERM; setsid sleep 60 & echo $!; while :; do sleep 0.1; done";
  using run = startRemoteRun(door.ticket, shell(script));
  await eventually(() => expect(door.log()).toHaveLength(1));
  door.fence();
  expect(await run.ended).toBe(0);
  await expectEnded(Number(door.log()[0]));
  expect(door.ends).toEqual([]);
});

test("al _remote-run kills everything without an answer for two thirds of its lease", async () => {
  await using door = await newDoor(6);
  using run = startRemoteRun(door.ticket, shell("setsid sleep 60 & echo $!; sleep 60"));
  await eventually(() => expect(door.log()).toHaveLength(1));
  const startedAt = performance.now();
  door.fault = () => "silent";
  expect(await run.ended).toBe(4);
  expect(performance.now() - startedAt).toBeGreaterThan(2_000);
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  await expectEnded(Number(door.log()[0]));
  expect(run.err()).toMatch(/no answer of the scheduler/);
});

test("al _remote-run keeps a silent run alive under a short lease", async () => {
  await using door = await scriptedDoor({
    job: jobOf(`dev-${randomUUID()}`),
    leaseSeconds: 1.5,
    inboxMs: 5_000,
  });
  using run = startRemoteRun(door.ticket, shell("sleep 3; echo late"));
  expect(await run.ended).toBe(0);
  expect(door.log()).toEqual(["late"]);
});

test("al _remote-run reports a program that cannot be started", async () => {
  await using door = await newDoor();
  using run = startRemoteRun(door.ticket, ["/nonexistent/program"]);
  expect(await run.ended).toBe(0);
  expect(door.ends[0]?.rejected).toMatch(/cannot be started.*ENOENT/);
});

test("al _remote-run reads at most 4 MiB more of its process than the scheduler has stored, and sends all of it in the end", async () => {
  await using door = await newDoor();
  const script = `const fs = require("node:fs");
      for (let n = 0; n < 100_000; n += 1) fs.writeSync(1, n + "x".repeat(250) + "\\n");`;
  door.fault = (path) => (path === "/remote/lines" ? "unavailable" : null);
  using run = startRemoteRun(door.ticket, [process.execPath, "--eval", script]);
  await wait(1_500);
  const { pid = 0 } = run.child;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  // Of 25 MB.
  expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(140_000);
  door.fault = () => null;
  expect(await run.ended).toBe(0);
  expect(door.log()).toHaveLength(100_000);
  expect(door.log().findIndex((line, n) => !line.startsWith(`${n}x`))).toBe(-1);
  expect(door.ends).toMatchObject([{ exitCode: 0 }]);
});

test("al _remote-run ends without a report when the machine takes it away, so that the run is lost and starts once more", async () => {
  await using door = await newDoor();
  using run = startRemoteRun(
    door.ticket,
    shell("trap 'cat stop-reason; echo; exit 1' TERM; echo ready; while :; do sleep 0.1; done"),
  );
  await eventually(() => expect(door.log()).toEqual(["ready"]));
  run.child.kill("SIGTERM");
  expect(await run.ended).toBe(143);
  expect(door.log()).toContain("interrupted");
  expect(door.ends).toEqual([]);
});

test("al _remote-run rejects an invalid ticket without repeating it", async () => {
  const ticket = { certificate: "c", name: "n", ticket: "very-secret" } as Ticket;
  using run = startRemoteRun(ticket, shell("echo one"));
  expect(await run.ended).toBe(1);
  expect(run.err()).toMatch(/the run's ticket in standard input is not valid: door/);
  expect(run.err()).not.toContain("very-secret");
});
