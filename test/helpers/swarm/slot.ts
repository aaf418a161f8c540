import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeCgroups } from "./cgroups.ts";
import { removeNetwork } from "./network.ts";

/** What tests of this machine that run at the same time must not share: a number, and the folder of that number. */
export interface Slot {
  readonly number: number;
  readonly dir: string;
}

const root = "/tmp/al-test-swarm";
const slots = Array.from({ length: 100 }, (_, index) => index + 1);

/** A slot of this process's own. What a test run left that was killed is removed first. */
export function takeSlot(): Slot {
  mkdirSync(root, { recursive: true, mode: 0o755 });
  for (const number of taken()) if (!lives(holderOf(number))) clear(number);
  const number = slots.find(take);
  if (number === undefined) throw new Error(`all swarms of ${root} are taken`);
  const dir = join(root, String(number));
  mkdirSync(dir, { recursive: true });
  return { number, dir };
}

/** Removes all that belongs to the slot. Its processes have ended. */
export function releaseSlot({ number }: Slot): void {
  clear(number);
}

const lockOf = (number: number) => join(root, `${number}.lock`);

function taken(): readonly number[] {
  const names = readdirSync(root).filter((name) => name.endsWith(".lock"));
  return names.map((name) => Number.parseInt(name, 10));
}

/** The file is there with its content at once, so that no other process takes it for one without a holder. */
function take(number: number): boolean {
  const own = join(root, `${process.pid}.own`);
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, lockOf(number));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function clear(number: number): void {
  removeNetwork(number);
  removeCgroups(number);
  rmSync(join(root, String(number)), { recursive: true, force: true, maxRetries: 5 });
  rmSync(lockOf(number), { force: true });
}

function holderOf(number: number): number {
  try {
    return Number(readFileSync(lockOf(number), "utf8"));
  } catch {
    return 0;
  }
}

function lives(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
