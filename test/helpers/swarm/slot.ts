import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAbandoned, takeLock } from "../lock.ts";
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
  for (const number of taken()) if (isAbandoned(lockOf(number))) releaseSlot({ number });
  const number = slots.find((each) => takeLock(lockOf(each)));
  if (number === undefined) throw new Error(`all swarms of ${root} are allowed`);
  const dir = join(root, String(number));
  mkdirSync(dir, { recursive: true });
  return { number, dir };
}

/** Removes all that belongs to the slot. Its processes have ended. */
export function releaseSlot({ number }: Pick<Slot, "number">): void {
  removeNetwork(number);
  removeCgroups(number);
  rmSync(join(root, String(number)), { recursive: true, force: true, maxRetries: 5 });
  rmSync(lockOf(number), { force: true });
}

const lockOf = (number: number) => join(root, `${number}.lock`);

function taken(): readonly number[] {
  const names = readdirSync(root).filter((name) => name.endsWith(".lock"));
  return names.map((name) => Number.parseInt(name, 10));
}
