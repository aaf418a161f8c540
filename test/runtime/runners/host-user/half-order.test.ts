import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SupervisorOrder } from "../../../../src/runtime/wire/supervisor-order.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const supervisor = join(import.meta.dirname, "supervisor-entry.ts");

/** A supervisor that got a part of its order and job; its run would make `mark`. */
function keep(part: (input: string) => string) {
  const dir = tempDir();
  const mark = join(dir, "mark");
  const order: SupervisorOrder = {
    order: "keep",
    instanceId: "dev-aaaaaaaa",
    workDir: join(dir, "work"),
    program: { file: "/bin/sh", args: ["-c", `echo > '${mark}'`] },
    env: {},
    network: "open",
    mustIsolate: false,
    lifeMs: 10_000,
  };
  const input = part(`${JSON.stringify(order)}\n{"job":"of ${"many ".repeat(100)}words"}\n`);
  const { status } = spawnSync(process.execPath, [supervisor], { input, encoding: "utf8" });
  return { status, began: existsSync(mark) };
}

test.each([
  ["half of the order", (input: string) => input.slice(0, input.indexOf("\n") / 2)],
  ["its order without its job", (input: string) => input.slice(0, input.indexOf("\n") + 1)],
  ["half of the job", (input: string) => input.slice(0, -200)],
  ["the job without its line end", (input: string) => input.slice(0, -1)],
])("a run's supervisor starts nothing if the scheduler dies after sending %s", (_, part) => {
  expect(keep((input) => input)).toEqual({ status: 0, began: true });
  expect(keep(part)).toEqual({ status: 1, began: false });
});
