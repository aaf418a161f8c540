import type { Mutation } from "../mutation.ts";

const expectation = "streams/runs/expectation.ts";
const marbles = "test/streams/runs/expectation.test.ts";
const checker = "src/foundation/config/schema-check/schema-checker.ts";
const checks = "test/foundation/config/schema-check/schema-checker.test.ts";

/** What keeps a run that did nothing from being a success, and a schema of strangers from the scheduler. */
export const expectations: readonly Mutation[] = [
  {
    defence: "a run that leaves nothing is no success where something is expected",
    file: expectation,
    find: "  if (missing !== null) return of(failed(end, missing));\n",
    replace: "",
    tests: [marbles],
    only: "has failed without it",
  },
  {
    defence: "a run that returns what its schema refuses is no success",
    file: expectation,
    find: "map((reason) => (reason === null ? end : failed(end, reason)))",
    replace: "map(() => end)",
    tests: [marbles],
    only: "has failed when its schema refuses the value",
  },
  {
    defence: "a run that only calls tools has not ended with words",
    file: "src/runtime/runners/run-output.ts",
    find: '        if (kind === "tool") said = false;\n',
    replace: "",
    tests: ["test/runtime/runners/run-output.test.ts"],
    only: "has ended with words",
  },
  {
    defence: "a schema that takes forever is given up",
    file: "src/foundation/config/schema-check/schema-thread.ts",
    find: "AbortSignal.timeout(timeoutMs)",
    replace: "AbortSignal.timeout(timeoutMs * 1_000)",
    tests: [checks],
    only: "ends a check that takes too long",
  },
  {
    defence: "a schema that takes too long leaves others their time",
    file: checker,
    find: "(last.get(request.schema) ?? Promise.resolve())",
    replace: "Promise.resolve()",
    tests: [checks],
    only: "ends a check that takes too long",
  },
  {
    defence: "a reason that quotes a value is bounded",
    file: checker,
    find: ".slice(0, maxReasonCharacters)",
    replace: "",
    tests: [checks],
    only: "in one line of bounded length",
  },
  {
    defence: "a schema is a file of its agent's own directory",
    file: "src/foundation/contracts/schema-file-name.ts",
    find: '"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\\\\.json"',
    replace: '"[^\\"]+\\\\.json"',
    tests: ["test/foundation/config/expect.test.ts"],
    only: "secret.json",
  },
  {
    defence: "the address of a heartbeat is not in the API",
    file: "src/interfaces/operations/operations.ts",
    find: "heartbeat: config.heartbeat && mask",
    replace: "heartbeat: config.heartbeat",
    tests: ["test/start/mask-secrets.test.ts"],
    only: "the URL of a heartbeat",
  },
];
