import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { remotePaths } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { runOutput } from "../../../../src/runtime/runners/run-output.ts";
import { randomBy } from "../../../faults/crash/crash-plan.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { isLong } from "../../../helpers/long.ts";
import { scriptedDoor, type Fault, type ScriptedDoor } from "./scripted-door.ts";
import { jobOf, startRemoteRun } from "./start-remote-run.ts";

/** Of all runs together. */
const rounds = Number(process.env.AL_REMOTE_ROUNDS ?? (isLong ? 200 : 30));
/** Each of them costs its run a pause before the next request. */
const perRun = isLong ? 25 : 15;
const seed = Number(process.env.AL_REMOTE_SEED ?? 19);

/** Those that happen at once; the others wait for what the inbox waits for. */
const immediate: readonly Fault[] = ["unavailable", "cut-before", "restart-before"];
const faults: readonly Fault[] = [...immediate, "cut-after", "half", "restart-after", "forget"];

/** Writes what a run may write, in a mixture by its seed, and ends once it finds a file in its directory. */
const program = `
const { existsSync } = await import("node:fs");
const { randomBy } = await import(process.argv[1]);
const random = randomBy(Number(process.argv[2]));
const log = (kind, msg) => ({ type: "log", level: 30, time: 1, kind, msg });
const pick = (count) => Math.floor(random() * count);
const messages = [
  (n) => [{ type: "status", text: "status " + n }],
  (n) => [log("tool", "tool " + n)],
  (n) => [log("said", n % 2 ? "said " + n : "")],
  (n) => [log("hook", "x".repeat(pick(3000)))],
  (n) => [{ type: "rerun" }],
  (n) => {
    const pieces = JSON.stringify({ n, text: "y".repeat(200) }).match(/.{1,60}/g);
    return pieces.map((json, at) => ({ type: "return", json, more: at < pieces.length - 1 }));
  },
];
console.log(JSON.stringify({ type: "ready" }));
for (let n = 0; n < 300; n += 1) {
  for (const message of messages[pick(messages.length)](n)) {
    console.log(JSON.stringify(message));
    if (pick(4) === 0) await new Promise((resolve) => setTimeout(resolve, pick(60)));
  }
  if (pick(5) === 0) console.log("raw " + n);
}
while (!existsSync("go-on")) await new Promise((resolve) => setTimeout(resolve, 100));
const usage = { model: "m", tokens: 7, costUsd: null, turns: 1 };
console.log(JSON.stringify({ type: "end", error: null, usage }));
process.exit(0);
`;

const randomModule = new URL("../../../faults/crash/crash-plan.ts", import.meta.url).href;

/** Draws a fault for most requests, and `count` of them in all. */
function drawFaults(door: ScriptedDoor, count: number, random: () => number): () => number {
  let left = count;
  door.fault = (path) => {
    if (left === 0 || random() < 0.25 || (path === remotePaths.claim && left > count - 3))
      return null;
    left -= 1;
    const possible = path === remotePaths.inbox ? immediate : faults;
    return possible[Math.floor(random() * possible.length)] ?? null;
  };
  return () => left;
}

/** What the scheduler's memory holds of a run that wrote these lines. */
function stateOf(lines: readonly string[]) {
  let status = "";
  let isReady = false;
  const output = runOutput({
    request: { instanceId: "dev-1", agent: anAgent("dev"), item: anItem("1", "dev") },
    redact: (text) => text,
    emit: (event) => {
      if (event.type === "status-text") status = event.text;
      if (event.type === "ready") isReady = true;
    },
    onCooldown: () => undefined,
  });
  for (const line of lines) output.line("stdout", line, 1);
  return { status, isReady, end: output.end(), ...output.handedBack() };
}

/** What the program writes without any fault. */
async function linesOf(run: number): Promise<readonly string[]> {
  await using door = await scriptedDoor({ job: jobOf(`dev-${randomUUID()}`) });
  using started = startRemoteRun(door.ticket, programOf(run));
  writeFileSync(join(started.socketDir, "go-on"), "");
  await started.ended;
  return [...door.log()];
}

function programOf(run: number): readonly string[] {
  const own = [randomModule, String(seed + run)];
  return [process.execPath, "--input-type=module", "--eval", program, ...own];
}

async function faultyRun(run: number): Promise<void> {
  await using door = await scriptedDoor({ job: jobOf(`dev-${randomUUID()}`) });
  const faultsLeft = drawFaults(door, perRun, randomBy(seed + run));
  using started = startRemoteRun(door.ticket, programOf(run));
  const undisturbed = linesOf(run);
  await vi.waitFor(() => expect(faultsLeft()).toBe(0), { timeout: 120_000, interval: 50 });
  writeFileSync(join(started.socketDir, "go-on"), "");
  expect(await started.ended, started.err()).toBe(0);
  const expected = await undisturbed;
  expect(door.log(), `the log of run ${run}`).toEqual(expected);
  const state = stateOf(door.taken().map(({ line }) => line));
  expect(state, `the state of run ${run}`).toEqual(stateOf(expected));
  expect(door.ends.at(0)).toMatchObject({ exitCode: 0 });
  expect(new Set(door.claims).size).toBe(1);
}

test(`after ${rounds} seeded faults all output of runs is complete, in order, and known to the last scheduler`, async () => {
  await Promise.all(Array.from({ length: Math.ceil(rounds / perRun) }, (_, run) => faultyRun(run)));
}, 600_000);
