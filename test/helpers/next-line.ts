import { readFile } from "node:fs/promises";
import type { TestScheduler } from "./scheduler.ts";
import { pause } from "./pause.ts";

/** Asks a scheduler by SIGUSR2 for one more line of JSON in a file, as a preloaded module of a test writes it. */
export async function nextLine<T>(scheduler: TestScheduler, file: string): Promise<T> {
  const lines = async () => (await readFile(file, "utf8").catch(() => "")).split("\n").slice(0, -1);
  const { length } = await lines();
  scheduler.signal("SIGUSR2");
  for (let tries = 0; tries < 600; tries++) {
    const line = (await lines())[length];
    if (line !== undefined) return JSON.parse(line) as T;
    await pause(50, "it is asked again");
  }
  throw new Error(`the scheduler was asked 30 s ago and has not answered:\n${scheduler.output()}`);
}
