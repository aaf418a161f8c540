import { supervisor } from "../../../../src/runtime/runners/host-user/supervisor.ts";

/** What `al _run-agent` does when the scheduler calls it, started from source. */
process.exit(await supervisor(process.stdin, process.env));
