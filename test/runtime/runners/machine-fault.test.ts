import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, writeSync } from "node:fs";
import { machineFault } from "../../../src/runtime/runners/machine-fault.ts";
import { UserError } from "../../../src/foundation/errors.ts";

const systemError = (code: string, more: object = {}): Error =>
  Object.assign(new Error(`${code}: no`), { code, ...more });
const path = "/tmp/al-runs/dev-1.log";

test.each([
  [systemError("ENOSPC"), "no space left on the disk of /work"],
  [systemError("ENOSPC", { path }), "no space left on the disk of /tmp/al-runs"],
  [systemError("EDQUOT", { path }), "the disk quota is used up on the disk of /tmp/al-runs"],
  [systemError("EROFS", { path }), "the disk of /tmp/al-runs is read-only"],
  [systemError("EMFILE"), "the process has too many open files"],
  [systemError("ENFILE"), "the machine has too many open files"],
  [systemError("ENOMEM"), "the machine is out of memory"],
  [systemError("EAGAIN", { syscall: "spawn sudo" }), "the machine can start no more processes"],
  [
    new UserError("run_log", "no log", { cause: systemError("ENOSPC") }),
    "no space left on the disk of /work",
  ],
  [
    Object.assign(new Error("mkdir /var/lib/x: no space left on device"), { statusCode: 500 }),
    "no space left on the disk of /work",
  ],
])("the machine lacks something: %s", (error, fault) => {
  expect(machineFault(error, "/work")).toBe(fault);
});

test.each([
  systemError("EAGAIN", { syscall: "read" }),
  systemError("ENOENT", { path }),
  systemError("EACCES", { path }),
  new Error("no space left on device"),
  new UserError("no_model", "no key"),
  "ENOSPC",
])("the fault is not the machine's: %s", (error) => {
  expect(machineFault(error, "/work")).toBeNull();
});

test("real errors of the system are recognized", async () => {
  const full = openSync("/dev/full", "w");
  expect(thrownBy(() => writeSync(full, "x"))).toBe("no space left on the disk of /work");
  const child = spawn("/nowhere/program");
  const [error] = (await once(child, "error")) as [Error];
  expect(machineFault(error, "/work")).toBeNull();
});

function thrownBy(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return machineFault(error, "/work");
  }
}
