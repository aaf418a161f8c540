import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { HostUserContext } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import { followRun } from "../../../../src/runtime/runners/host-user/follow-run.ts";
import { identityOf } from "../../../../src/runtime/runners/host-user/process-identity.ts";
import { logPathOf } from "../../../../src/runtime/runners/host-user/run-files.ts";
import { runLogLine } from "../../../../src/runtime/runners/host-user/run-log.ts";
import { runOutput } from "../../../../src/runtime/runners/run-output.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

test("a run ends by the end in its log, though its supervisor never exits", async () => {
  const baseDir = tempDir();
  const request = { instanceId: "dev-1", agent: anAgent("dev"), item: anItem("1", "dev") };
  const redact = <T>(value: T): T => value;
  const emit = () => undefined;
  const output = runOutput({ request, redact, emit, onCooldown: () => undefined });
  const log = logPathOf(baseDir, "dev-1");
  mkdirSync(dirname(log), { recursive: true });
  const ending = { exitCode: 0, signal: null, rejected: null, leftover: null };
  writeFileSync(log, `${runLogLine("end", JSON.stringify(ending))}\n`);
  const supervisor = spawn("sleep", ["600"]);
  const over = once(supervisor, "exit");
  const run = {
    request,
    output,
    over,
    process: identityOf(supervisor.pid ?? 0),
    start: { program: { file: "true", args: [] }, runAs: "$USER", env: {} },
  };
  const never = new AbortController().signal;
  const options = { baseDir, graceMs: 100, isolatedUsers: { note: () => undefined } };
  const followed = await followRun(
    run,
    { stopping: never, left: never, emit },
    options as unknown as HostUserContext,
  );
  expect(followed).toMatchObject({ type: "exit", exit: { type: "exit" } });
  expect(supervisor.signalCode).toBe("SIGKILL");
});
