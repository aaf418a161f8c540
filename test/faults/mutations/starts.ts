import type { Mutation } from "../mutation.ts";

const fullDisks = "test/faults/store/full-disks.test.ts";

/** What a run's start costs its work, and what the machine lacks for it. */
export const starts: readonly Mutation[] = [
  {
    defence: "a run that never began costs its work no try",
    file: "src/foundation/store/recover.ts",
    find: "open.filter((row) => row.begun === 1)",
    replace: "open",
    tests: ["test/foundation/store/recover.test.ts"],
  },
  {
    defence: "a run's process is asked for nothing before the begin of the run is committed",
    file: "src/runtime/runners/host-user/new-run.ts",
    find: "await options.begin?.(request);",
    replace: "void options.begin?.(request);",
    tests: ["test/runtime/runners/host-user/begin.test.ts"],
  },
  {
    defence: "a run that the machine can't start is started again later",
    file: "streams/runs/until-started.ts",
    find: "if (reason === null) return EMPTY;",
    replace: "return EMPTY;",
    tests: ["test/streams/runs/until-started.test.ts"],
  },
  {
    defence: "a full disk of runs holds the queue",
    file: "src/runtime/runners/run-exit.ts",
    find: "return fault === null ? rejectedExit(reason) : blockedExit(fault);",
    replace: "return rejectedExit(fault ?? reason);",
    tests: [fullDisks],
    only: "holds the queue",
    built: true,
  },
  {
    defence: "no word of a run has it started again once its agent may do something",
    file: "src/runtime/runners/run-output.ts",
    find: "blocked === true && !isReady",
    replace: "blocked === true",
    tests: ["test/runtime/runners/run-output.test.ts"],
  },
  {
    defence: "a full disk of its own output does not end the scheduler",
    file: "src/interfaces/cli/terminal/pipes.ts",
    find: "done(error && isGone(error) ? error : null)",
    replace: "done(error)",
    tests: [fullDisks],
    only: "own output",
    built: true,
  },
];
