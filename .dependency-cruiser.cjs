/**
 * The layers of src/README.md as rules, an import against them fails the check:
 * streams ← foundation ← features ← runtime ← interfaces ← start.
 */
const stage = "^streams/(agents|triggers|runs|status)/";
/** State machines that a room owns: as pure as streams/. */
const rules = "^src/.*/rules/";
const pure = [
  "^streams/",
  rules,
  "^src/foundation/contracts/",
  "^node_modules/(rxjs|cron-parser|zod)/",
];

module.exports = {
  forbidden: [
    { name: "no-circle", severity: "error", from: {}, to: { circular: true } },
    {
      name: "streams-import-themselves",
      comment:
        "streams/ imports rxjs, itself and pure functions; no file, socket, process or clock.",
      severity: "error",
      from: { path: "^streams/" },
      to: { pathNot: ["^streams/", "^node_modules/(rxjs|cron-parser|zod)/"] },
    },
    {
      name: "rules-are-pure",
      severity: "error",
      from: { path: rules },
      to: { pathNot: pure },
    },
    {
      name: "stages-do-not-know-each-other",
      comment: "agents, triggers, runs and status meet in agent-graph.ts and runtime.ts only.",
      severity: "error",
      from: { path: stage },
      to: { path: stage, pathNot: "^streams/$1/" },
    },
    {
      name: "vocabulary-imports-nothing",
      comment:
        "but what an agent is configured to be, spending, and the tables of outcomes, runtimes and harnesses.",
      severity: "error",
      from: {
        path: "^streams/(vocabulary|agent-config|outcomes|runtimes|harnesses|alert-options|spending)\\.ts$",
      },
      to: {
        path: ".",
        pathNot: "^streams/(agent-config|outcomes|runtimes|harnesses|alert-options|spending)\\.ts$",
      },
    },
    {
      name: "only-its-wiring-imports-the-runtime",
      severity: "error",
      from: { pathNot: "^src/start/build-graph\\.ts$" },
      to: { path: "^streams/runtime\\.ts$" },
    },
    {
      name: "foundation-imports-itself",
      severity: "error",
      from: { path: "^src/foundation/" },
      to: { path: "^src/", pathNot: "^src/foundation/" },
    },
    {
      name: "contracts-stand-alone",
      severity: "error",
      from: { path: "^src/foundation/contracts/" },
      to: {
        path: "^src/",
        pathNot: ["^src/foundation/contracts/", "^src/foundation/errors\\.ts$"],
      },
    },
    {
      name: "features-import-the-foundation",
      comment: "Features never import each other: deleting a folder and its rows removes it.",
      severity: "error",
      from: { path: "^src/features/([^/]+)/" },
      to: { path: "^src/", pathNot: ["^src/foundation/", "^src/features/$1/"] },
    },
    {
      name: "runtime-imports-features",
      severity: "error",
      from: { path: "^src/runtime/" },
      to: { path: "^src/", pathNot: "^src/(foundation|features|runtime)/" },
    },
    {
      name: "both-sides-of-a-run-meet-in-wire",
      comment: "wire ← run-api, harness, runners ← runs ← cluster",
      severity: "error",
      from: { path: "^src/runtime/(wire|run-api|harness|runners)/" },
      to: { path: "^src/runtime/", pathNot: "^src/runtime/(wire|$1)/" },
    },
    {
      name: "runs-do-not-know-the-cluster",
      severity: "error",
      from: { path: "^src/runtime/runs/" },
      to: { path: "^src/runtime/cluster/" },
    },
    {
      name: "interfaces-import-the-runtime",
      severity: "error",
      from: { path: "^src/interfaces/" },
      to: { path: "^src/start/", pathNot: "^src/start/start\\.ts$" },
    },
    {
      name: "only-the-command-line-imports-the-root",
      severity: "error",
      from: { pathNot: "^src/(interfaces/cli|start)/" },
      to: { path: "^src/start/" },
    },
    {
      name: "the-command-line-is-the-top",
      severity: "error",
      from: { pathNot: "^src/interfaces/cli/" },
      to: { path: "^src/interfaces/cli/" },
    },
    {
      name: "only-the-command-line-asks-the-doctor",
      severity: "error",
      from: { path: "^(src|streams)/", pathNot: "^src/interfaces/(cli|doctor)/" },
      to: { path: "^src/interfaces/doctor/" },
    },
    {
      name: "the-setup-stands-alone",
      comment: "It runs before anything is built.",
      severity: "error",
      from: { path: "^src/setup/" },
      to: { path: "^(src|streams)/", pathNot: "^src/setup/" },
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
