import { spawnSync } from "node:child_process";

/** Before the first test: builds the program that tests start, when a source is newer than it. */
export default function buildProgram(): void {
  const setup = spawnSync(process.execPath, ["src/setup/checkout.mjs"], { stdio: "inherit" });
  if (setup.status !== 0) throw new Error("the program could not be built");
}
