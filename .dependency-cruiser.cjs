/** The drawing of README.md as rules: an arrow against it fails the check. */
const edge =
  "^src/(run-api|config|spend|files|logs|store|credentials|webhooks|runners|harness|models|gateway|skills)/";

module.exports = {
  forbidden: [
    { name: "no-circle", severity: "error", from: {}, to: { circular: true } },
    {
      name: "streams-are-pure",
      comment:
        "streams/ imports rxjs, itself and pure functions; no file, socket, process or clock.",
      severity: "error",
      from: { path: "^streams/" },
      to: { pathNot: ["^streams/", "^node_modules/(rxjs|cron-parser|zod)/"] },
    },
    {
      name: "stages-do-not-know-each-other",
      comment: "agents, triggers, runs, coordination and status meet in runtime.ts only.",
      severity: "error",
      from: { path: "^streams/(agents|triggers|runs|coordination|status)/" },
      to: { path: "^streams/(agents|triggers|runs|coordination|status)/", pathNot: "^streams/$1/" },
    },
    {
      name: "vocabulary-imports-nothing",
      comment:
        "but what an agent is configured to be, and the tables of its runtimes and harnesses.",
      severity: "error",
      from: { path: "^streams/(vocabulary|agent-config|runtimes|harnesses)\\.ts$" },
      to: { path: ".", pathNot: "^streams/(agent-config|runtimes|harnesses)\\.ts$" },
    },
    {
      name: "nobody-imports-runtime-but-its-wiring",
      severity: "error",
      from: { pathNot: "^src/start/build-graph\\.ts$" },
      to: { path: "^streams/runtime\\.ts$" },
    },
    {
      name: "edges-do-not-know-each-other",
      comment: "What one edge needs of another it is handed by start.ts.",
      severity: "error",
      from: { path: edge },
      to: { path: "^src/", pathNot: ["^src/$1/", "^src/contracts/", "^src/errors\\.ts$"] },
    },
    {
      name: "the-doctor-looks-into-every-room",
      comment:
        "Like the command line, which alone asks it; it knows neither that nor the scheduler.",
      severity: "error",
      from: { path: "^src/doctor/" },
      to: { path: ["^src/cli/", "^src/start\\.ts$"] },
    },
    {
      name: "only-the-command-line-asks-the-doctor",
      severity: "error",
      from: { path: "^(src|streams)/", pathNot: "^src/(cli|doctor)/" },
      to: { path: "^src/doctor/" },
    },
    {
      name: "contracts-stand-alone",
      severity: "error",
      from: { path: "^src/contracts/" },
      to: { path: "^src/", pathNot: ["^src/contracts/", "^src/errors\\.ts$"] },
    },
    {
      name: "errors-imports-nothing",
      severity: "error",
      from: { path: "^src/errors\\.ts$" },
      to: { path: "." },
    },
    {
      name: "no-test-code-in-the-program",
      severity: "error",
      from: { path: "^(src|streams)/" },
      to: { path: "^test/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types"],
    },
  },
};
