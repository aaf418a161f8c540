/** The directions of imports of src/README.md and streams/README.md as rules: an import against them fails the check. */
const edge =
  "^src/(alerts|config|credentials|files|gateway|harness|heartbeat|logs|models|run-api|runners|skills|spend|store|versions|webhooks)/";
/** What live runs are given: they know the types, and create none of it. */
const givenToRuns = "^src/(alerts|config|run-api|store)/";
const stage = "^streams/(agents|triggers|runs|coordination|spend|status|alerts)/";

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
      comment:
        "agents, triggers, runs, spend and status meet in agent-graph.ts and runtime.ts only. Each may write an amount of money.",
      severity: "error",
      from: { path: stage },
      to: {
        path: stage,
        pathNot: ["^streams/$1/", "^streams/spend/money\\.ts$"],
      },
    },
    {
      name: "vocabulary-imports-nothing",
      comment:
        "but what an agent is configured to be, and the tables of its runtimes and harnesses.",
      severity: "error",
      from: {
        path: "^streams/(vocabulary|agent-config|runtimes|harnesses|alert-options)\\.ts$",
      },
      to: {
        path: ".",
        pathNot: "^streams/(agent-config|runtimes|harnesses|alert-options)\\.ts$",
      },
    },
    {
      name: "only-its-wiring-imports-the-runtime",
      severity: "error",
      from: { pathNot: "^src/start/build-graph\\.ts$" },
      to: { path: "^streams/runtime\\.ts$" },
    },
    {
      name: "edges-do-not-know-each-other",
      comment: "start.ts passes to each edge what it needs of another.",
      severity: "error",
      from: { path: edge },
      to: { path: "^src/", pathNot: ["^src/$1/", "^src/contracts/", "^src/errors\\.ts$"] },
    },
    {
      name: "search-reads-logs-and-the-store",
      comment: "It is an index of log files; what became of a run is in the store.",
      severity: "error",
      from: { path: "^src/search/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(search|contracts)/",
          "^src/errors\\.ts$",
          "^src/logs/(log-files|read-lines)\\.ts$",
          "^src/store/store-reader\\.ts$",
        ],
      },
    },
    {
      name: "live-runs-know-no-other-room",
      severity: "error",
      from: { path: "^src/runs/" },
      to: {
        path: "^src/",
        pathNot: ["^src/runs/", "^src/contracts/", "^src/errors\\.ts$", givenToRuns],
      },
    },
    {
      name: "live-runs-create-no-edge",
      comment: "start.ts passes in the store, the config and the sockets.",
      severity: "error",
      from: { path: "^src/runs/" },
      to: { path: givenToRuns, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-wiring-and-operations-import-live-runs",
      severity: "error",
      from: { pathNot: "^src/(runs/|operations/|start/|start\\.ts$)" },
      to: { path: "^src/runs/" },
    },
    {
      name: "only-commands-and-the-doctor-import-wiring",
      comment: "Operations know the types of what they are given.",
      severity: "error",
      from: { pathNot: "^src/(start/|start\\.ts$|operations/|cli/|doctor/)" },
      to: { path: "^src/start(/|\\.ts$)" },
    },
    {
      name: "operations-wire-nothing",
      severity: "error",
      from: { path: "^src/operations/" },
      to: { path: "^src/start(/|\\.ts$)", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-wiring-imports-operations",
      severity: "error",
      from: { pathNot: "^src/(operations|start)/" },
      to: { path: "^src/operations/" },
    },
    {
      name: "the-command-line-is-the-top",
      severity: "error",
      from: { pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
    {
      name: "the-setup-stands-alone",
      comment: "It runs before anything is built.",
      severity: "error",
      from: { path: "^src/setup/" },
      to: { path: "^(src|streams)/", pathNot: "^src/setup/" },
    },
    {
      name: "the-doctor-looks-into-every-room",
      comment: "Only the command line imports it; it knows neither that nor the scheduler.",
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
