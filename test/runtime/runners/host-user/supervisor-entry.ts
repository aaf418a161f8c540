import { supervisor } from "../../../../src/runtime/runners/host-user/supervisor.ts";

/** `al _run-agent` as the scheduler calls it, started from source. */
process.exit(await supervisor(process.stdin, process.env));
