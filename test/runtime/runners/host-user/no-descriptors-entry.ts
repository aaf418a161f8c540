import { closeSync, openSync } from "node:fs";
import { createClosingProbe } from "../../../../src/runtime/runners/host-user/isolation.ts";
import { supervisor } from "../../../../src/runtime/runners/host-user/supervisor.ts";

// A supervisor, or with `probe` the scheduler's probe of the network, in a process that can open nothing more.
const opened: number[] = [];
try {
  for (;;) opened.push(openSync("/dev/null", "r"));
} catch {
  if (process.argv[2] !== "probe") process.exit(await supervisor(process.stdin, process.env));
  const whyNotClosed = createClosingProbe(process.env);
  const used = await whyNotClosed();
  for (const fd of opened) closeSync(fd);
  process.stdout.write(JSON.stringify([used, await whyNotClosed()]));
}
