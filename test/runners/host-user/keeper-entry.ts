import { keeper } from "../../../src/runners/host-user/keeper.ts";

/** What `al _run-agent` does when the scheduler calls it, started from source. */
process.exit(await keeper(process.stdin, process.env));
