import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, writeSync } from "node:fs";
import { machineFault } from "../../../src/runtime/wire/machine-fault.ts";
import { Problem } from "../../../src/foundation/errors.ts";

const systemError = (code: string, more: Record<string, string> = {}): Error =>
  Object.assign(new Error(`${code} of ${more.syscall ?? "write"}`), { code, ...more });
const path = "/tmp/al-runs/dev-1.log";
const cause = systemError("ENOSPC");
const ofEngine = new Error("(HTTP code 500) mkdir /x: no space left on device");

test.each([
  ["no space left on the disk of /work", cause],
  ["no space left on the disk of /tmp/al-runs", systemError("ENOSPC", { path })],
  ["the disk quota is used up on the disk of /tmp/al-runs", systemError("EDQUOT", { path })],
  ["the disk of /tmp/al-runs is read-only", systemError("EROFS", { path })],
  ["the process has too many open files", systemError("EMFILE")],
  ["the machine has too many open files", systemError("ENFILE")],
  ["the machine is out of memory", systemError("ENOMEM")],
  ["the machine can start no more processes", systemError("EAGAIN", { syscall: "spawn sudo" })],
  ["no space left on the disk of /work", new Problem("run_log", "caused by ENOSPC", { cause })],
  ["no space left on the disk of /work", Object.assign(ofEngine, { statusCode: 500 })],
  [null, systemError("EAGAIN", { syscall: "read" })],
  [null, systemError("ENOENT", { path })],
  [null, new Error("no space left on device")],
  [null, new Problem("no_model", "no key")],
  [null, "ENOSPC"],
])("machineFault returns %j for %s", (fault, error) =>
  expect(machineFault(error, "/work")).toBe(fault),
);

test("machineFault recognizes the system's error about a full disk, and ignores one about a missing program", async () => {
  const full = openSync("/dev/full", "w");
  const faultOf = async (act: () => unknown) => {
    try {
      await act();
      return "none";
    } catch (error) {
      return machineFault(error, "/work");
    }
  };
  expect(await faultOf(() => writeSync(full, "x"))).toBe("no space left on the disk of /work");
  expect(await faultOf(() => once(spawn("/nowhere/program"), "spawn"))).toBeNull();
});
