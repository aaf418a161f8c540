import type { Mutation } from "../mutation.ts";

const jumps = "test/faults/time/clock-jumps.test.ts";
const changes = "test/faults/time/clock-changes.test.ts";
const unwatched = "test/faults/files/without-watches.test.ts";
const cron = "streams/triggers/cron.ts";

/** What holds while clocks jump and are changed. */
const time: readonly Mutation[] = [
  {
    defence: "all that a sleep has passed over is one run at most, not one each",
    file: cron,
    find: "last = Math.max(woken, due);",
    replace: "last = due;",
    tests: [jumps],
    only: "runs at most once",
  },
  {
    defence: "a clock that was far ahead for a moment doesn't silence schedules",
    file: "streams/clock.ts",
    find: "if (isSetBack) setBack.next(now);",
    replace: "",
    tests: [jumps],
    only: "set far ahead",
  },
  {
    defence: "a timer for a moment months away is armed in pieces",
    file: "streams/clock.ts",
    find: "const maxSleepMs = 30_000;",
    replace: "const maxSleepMs = Infinity;",
    tests: [jumps],
    only: "a real timer",
  },
  {
    defence: "what a change of the clock skipped comes in its place among what follows",
    file: "streams/triggers/next-tick.ts",
    find: "if (!isSkipped) return best;",
    replace: "return best;",
    tests: [changes],
    only: "around each change",
  },
  {
    defence: "a time that is shown twice is due twice for schedules of every hour only",
    file: "streams/triggers/next-tick.ts",
    find: "everyHour && second !== null",
    replace: "second !== null",
    tests: [changes],
    only: "around each change",
  },
];

/** What holds while files are changed, and can't be watched. */
const files: readonly Mutation[] = [
  {
    defence: "files are polled, with a warning, when the system has no watches left",
    file: "src/foundation/files/watch-project.ts",
    find: 'if (options.backend !== "polling" && hasCode(error, ...exhausted))',
    replace: 'if (options.backend === "polling" && hasCode(error, ...exhausted))',
    tests: [unwatched],
    only: "too few open files",
    built: true,
  },
  {
    defence: "a follower reads what another process wrote between the scheduler's own lines",
    file: "src/foundation/logs/log-follow.ts",
    find: "if (!place || isReading || first?.start !== place.offset) return read(file);",
    replace: "if (!place || isReading) return read(file);",
    tests: ["test/foundation/logs/log-live.test.ts"],
    only: "lines of the writer and of another process",
  },
  {
    defence: "a line too long to be ours is not held by who follows a log",
    file: "src/foundation/logs/read-lines.ts",
    find: "if (rest.length > longestLine) {",
    replace: "if (rest.length > 1e9) {",
    tests: ["test/foundation/logs/log-follow.test.ts"],
    only: "a line of 50 MB",
  },
  {
    defence: "a line too long to be ours is passed over by who reads a log backwards",
    file: "src/foundation/logs/read-lines.ts",
    find: "isWithin || keep.length > longestLine ? null : keep",
    replace: "isWithin ? null : keep",
    tests: ["test/foundation/logs/read-lines.test.ts"],
    only: "a line of 50 MB",
  },
  {
    defence: "a config is read once its writer has been quiet",
    file: "streams/agents/agent-changes.ts",
    find: "const settleMs = 40;",
    replace: "const settleMs = 0;",
    tests: ["test/streams/agents/agent-changes.test.ts"],
    only: "wait until a file has been quiet",
  },
  {
    defence: "files made while watching gives way to polling are found at once",
    file: "src/foundation/files/watch-files.ts",
    find: "repairScans(projectDir, { begin$, before: scan })",
    replace: "repairScans(projectDir, { before: scan })",
    tests: ["test/faults/files/without-watches.test.ts"],
    only: "run out later",
    built: true,
  },
];

/** What holds under clients, agents, senders and providers without measure. */
const without: readonly Mutation[] = [
  {
    defence: "a stream client that does not read is dropped",
    file: "src/interfaces/gateway/sse.ts",
    find: 'if (raw.writableLength > allowance) drop("it does not read");',
    replace: 'if (raw.writableLength < 0) drop("it does not read");',
    tests: ["test/faults/load/streams.test.ts"],
    built: true,
  },
  {
    defence: "of what a command prints only the first lines are logged",
    file: "src/runtime/harness/raw-lines.ts",
    find: "if (lines <= maxLoggedLines) log(line, stream);",
    replace: "log(line, stream);",
    tests: ["test/faults/load/flood.test.ts"],
    only: "in a hook",
    built: true,
  },
  {
    defence: "of a line that never ends only the beginning is kept",
    file: "src/foundation/contracts/line-splitter.ts",
    find: "part.subarray(0, maxBytes - kept)",
    replace: "part",
    tests: ["test/foundation/contracts/line-splitter.test.ts"],
  },
  {
    defence: "a filter that finds nothing reads a bounded part of a log",
    file: "src/foundation/logs/log-scan.ts",
    find: "|| bytes >= maxBytes",
    replace: "",
    tests: ["test/foundation/logs/log-page.test.ts"],
    only: "a scan is bounded",
  },
  {
    defence: "a body nested too deep is not indented",
    file: "src/features/webhooks/readable-payload.ts",
    find: "payload === undefined || isDeeper(payload, maxDepth)",
    replace: "payload === undefined",
    tests: ["test/features/webhooks/readable-payload.test.ts"],
  },
  {
    defence: "calls of calls end at maxCallDepth",
    file: "src/runtime/runs/calls.ts",
    find: "if (trigger.depth > deps.maxDepth()) {",
    replace: "if (trigger.depth < 0) {",
    tests: ["test/faults/load/endless.test.ts"],
    only: "two agents that call each other",
    built: true,
  },
  {
    defence: "runs that ask to be run again end at maxReruns",
    file: "src/start/record-work.ts",
    find: "if (count > most) {",
    replace: "if (count < 0) {",
    tests: ["test/runtime/runs/calls.test.ts"],
    only: "is at most maxReruns times in a row",
  },
  {
    defence: "a model that said when to come back is left alone by the runs that follow",
    file: "src/start/prepare-job.ts",
    find: "const ordered = sources.orderModels(modelsOfRuns(agent));",
    replace: "const ordered = modelsOfRuns(agent);",
    tests: ["test/faults/load/limited-provider.test.ts"],
    only: "429",
    built: true,
  },
];

/** What holds under load, with clocks that jump and with files that change at once. */
export const load: readonly Mutation[] = [...time, ...files, ...without];
