import type { Mutation } from "../mutation.ts";

const counted = { tests: ["test/costs/scheduler.test.ts"], built: true };

/** What keeps a cost from growing with the number of agents or of clients. */
export const costs: readonly Mutation[] = [
  {
    defence: "a delivery is compared with the agents that share a value with it",
    file: "src/features/webhooks/binding-index.ts",
    find: "const found = new Set(this.#unfiled);",
    replace: "const found = new Set(this.#all);",
    tests: ["test/costs/match.test.ts"],
  },
  {
    defence: "a delivery for nobody is explained with so many agents and no more",
    file: "src/features/webhooks/match-index.ts",
    find: "const maxExplained = 50;",
    replace: "const maxExplained = 200_000;",
    tests: ["test/costs/match.test.ts"],
  },
  {
    defence: "a client is told only what changed",
    file: "streams/status/status-updates.ts",
    find: "for (const name of names) {",
    replace: "for (const name of [...names, ...records.keys()]) {",
    tests: ["test/costs/status.test.ts"],
    only: "bytes",
  },
  {
    defence: "a change is put into JSON once for all clients",
    file: "src/interfaces/gateway/routes/status.ts",
    find: "    share(),\n",
    replace: "",
    tests: ["test/costs/status.test.ts"],
    only: "JSON",
  },
  {
    defence: "what changes in one turn is one event of a stream",
    file: "streams/status/status-updates.ts",
    find: "if (!gathered.isEmpty()) pause ??= scheduler.schedule(flush);",
    replace: "if (pause === undefined) flush();",
    ...counted,
    only: "events and bytes",
  },
  {
    defence: "a quiet agent holds no file open",
    file: "src/foundation/logs/log-handles.ts",
    find: "if (!busy && usedAt <= until)",
    replace: "if (!busy && usedAt <= 0)",
    ...counted,
    only: "files open",
  },
  {
    defence: "all schedules share one timer",
    file: "streams/clock.ts",
    find: "const cancel = timers.at(time, wake);",
    replace:
      "scheduler.schedule(() => undefined, 1e9);\n        const cancel = timers.at(time, wake);",
    ...counted,
    only: "timers and handles",
  },
  {
    defence: "no agent has a thread",
    file: "src/features/webhooks/match-index.ts",
    find: "    remove(agent.name);\n",
    replace: `    remove(agent.name);
    if (agent.name.endsWith("00"))
      void import("node:worker_threads").then(({ Worker }) => new Worker("setInterval(() => 1, 1e6)", { eval: true }));
`,
    ...counted,
    only: "threads",
  },
  {
    defence: "a delivery costs the statements of what it starts",
    file: "src/foundation/store/receipts.ts",
    find: "    insert.run(id, at,",
    replace: `    for (const row of db.prepare("SELECT * FROM cron_ticks").all()) same.get(String(row.agent), "", "");
    insert.run(id, at,`,
    ...counted,
    only: "statements",
  },
  {
    defence: "deliveries that come together are committed together",
    file: "src/foundation/store/group-commit.ts",
    find: "const maxWrites = 1000;",
    replace: "const maxWrites = 1;",
    ...counted,
    only: "burst",
  },
  {
    defence: "a save has only its agent read again",
    file: "src/foundation/files/watch-files.ts",
    find: `        if (kind?.kind === "agent") return isAgentName(kind.name) ? of(kind.name) : [];
        if (kind?.kind !== "agents-root") return [];
`,
    replace: '        if (kind === null || kind.kind === "project") return [];\n',
    ...counted,
    only: "files read",
  },
];
