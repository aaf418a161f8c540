import type { Mutation } from "../mutation.ts";

const points = "test/faults/crash/crash-points.test.ts";
const away = "test/faults/store/unavailable-store.test.ts";
const damaged = "test/faults/store/damaged-store.test.ts";
const faults = "test/foundation/store/store-faults.test.ts";
const groupCommit = "src/foundation/store/group-commit.ts";
const recover = "src/foundation/store/recover.ts";

/** What keeps work through a crash, a full disk and a killed process. */
export const store: readonly Mutation[] = [
  {
    defence: "a delivery is answered only after its receipt and its work are committed",
    file: "src/features/webhooks/receive.ts",
    find: "accepted = await deps.accept(acceptance);",
    replace:
      "void deps.accept(acceptance).catch(() => undefined);\n    accepted = { duplicate: false, queued: acceptance.items };",
    tests: [points],
    only: "receipt not committed",
    built: true,
  },
  {
    defence: "a delivery that can't be stored is never answered 200",
    file: "src/features/webhooks/receive.ts",
    find: `return { status: 503, error: "store_unavailable", detail: "It cannot be stored now." };`,
    replace: "return { status: 200, body: { receiptId: acceptance.receipt.id, matched: [] } };",
    tests: [away],
    only: "the disk fails",
    built: true,
  },
  {
    defence: "a receipt and its work are committed together",
    file: "src/foundation/store/receipts.ts",
    find: "accept: (acceptance: Acceptance) => write(() => accept(acceptance)),",
    replace: `accept: async (acceptance: Acceptance) => {
      const accepted = await write(() => accept({ ...acceptance, items: [] }));
      await write(() => {
        for (const item of acceptance.items) insertTrigger(queuedRow(item));
      });
      return accepted;
    },`,
    tests: [points],
    only: "receipt committed, not answered",
    built: true,
  },
  {
    defence: "nobody is told of a write before it is committed",
    file: "src/foundation/store/transaction.ts",
    find: "done = writes.map(runOne);",
    replace: "done = writes.map(runOne);\n      for (const tell of done) tell();",
    tests: [faults],
  },
  {
    defence: "a commit that failed after it went through counts",
    file: "src/foundation/store/transaction.ts",
    find: "select.get()?.n === last;",
    replace: "select.get()?.n === -1;",
    tests: [faults],
  },
  {
    defence: "what is decided is recorded once the store is back",
    file: groupCommit,
    find: "record: (fn) => add(fn, isUnavailable),",
    replace: "record: (fn) => add(fn, () => false),",
    tests: [faults, "test/faults/store/failing-commits.test.ts"],
    built: true,
  },
  {
    defence: "another process's lock does not keep the event loop",
    file: groupCommit,
    find: "const blockedMs = 10;",
    replace: "const blockedMs = 5000;",
    tests: [faults],
  },
  {
    defence: "a write waits for another process's lock to go",
    file: groupCommit,
    find: "isBusy(error) ? Math.max(busyMs, waitMs) : waitMs",
    replace: "waitMs",
    tests: [faults],
  },
  {
    defence: "a commit is on the disk before it counts",
    file: "src/foundation/store/database.ts",
    find: "PRAGMA synchronous = FULL;",
    replace: "PRAGMA synchronous = OFF;",
    tests: ["test/foundation/store/database.test.ts"],
  },
  {
    defence: "a run begins only after its claim is committed",
    file: "streams/runs/run-agent.ts",
    find: "return ports.claim(request).pipe(",
    replace: "ports.claim(request);\n    return of(null).pipe(",
    tests: ["test/streams/runs/run-agent.test.ts"],
  },
  {
    defence: "a claim that waits for the store does not hold up the end",
    file: "src/start/build-graph.ts",
    find: ".pipe(takeUntil(inputs.stopping$.pipe(delay(claimMs))))",
    replace: "",
    tests: [away],
    only: "stops all the same",
    built: true,
  },
  {
    defence: "only work that waits is claimed",
    file: "src/foundation/store/work.ts",
    find: `\`UPDATE triggers SET state = 'running', instance_id = ?, started_at = ?
     WHERE id = ? AND state = 'queued'\``,
    replace: `\`UPDATE triggers SET state = 'running', instance_id = ?, started_at = ?
     WHERE id = ?\``,
    tests: ["test/foundation/store/work.test.ts"],
  },
  {
    defence: "what waited waits again after a crash",
    file: recover,
    find: `row.state === "queued" ? waiting(itemOf(row)) : again.get(row.id);`,
    replace: `row.state === "queued" ? null : again.get(row.id);`,
    tests: [points],
    only: "answered, queued",
    built: true,
  },
  {
    defence: "the work of a lost run waits once more",
    file: recover,
    find: "if (retry) insert(queuedRow(retry));",
    replace: "",
    tests: [points],
    only: "begun, not asked",
    built: true,
  },
  {
    defence: "work is tried twice at most",
    file: "streams/vocabulary.ts",
    find: "const maxAttempts = 2;",
    replace: "const maxAttempts = 3;",
    tests: ["test/foundation/store/recover.test.ts"],
  },
  {
    defence: "what a dead run held is free after a crash",
    file: recover,
    find: `["locks", "waits", "answers"]`,
    replace: `["waits", "answers"]`,
    tests: ["test/runtime/runs/locks.test.ts"],
  },
  {
    defence: "a run that lives on, or ended unseen, is not run again",
    file: "src/runtime/runners/host-user/adopted-run.ts",
    find: "if (isAlive(process) || (await readEndRecord(path)) !== null) return { instanceId, agent };",
    replace: "",
    tests: [points],
    only: "exited, not recorded",
    built: true,
  },
  {
    defence: "a supervisor without its whole order begins nothing",
    file: "src/runtime/runners/host-user/supervisor.ts",
    find: "if (job.at(-1) !== newline) throw new Error(notWhole);",
    replace: "",
    tests: ["test/runtime/runners/host-user/half-order.test.ts"],
  },
  {
    defence: "nobody ever reads half of the API key",
    file: "src/foundation/credentials/place-secret.ts",
    find: "await write(draft, secret);",
    replace: `await write(path, secret);
    await (await import("node:fs/promises")).rename(path, draft);`,
    tests: [points],
    only: "key drafted",
    built: true,
  },
  {
    defence: "nobody ever reads half of a config.toml",
    file: "src/foundation/files/replace-file.ts",
    find: `await writeFile(draft, content, { flag: "wx", mode });`,
    replace: `await writeFile(path, content, { mode });`,
    tests: [points],
    only: "config drafted",
    built: true,
  },
  {
    defence: "one scheduler holds a project",
    file: "src/foundation/store/project-lock.ts",
    find: `db.exec("BEGIN EXCLUSIVE");`,
    replace: `db.exec("BEGIN");`,
    tests: ["test/foundation/store/project-lock.test.ts"],
  },
  {
    defence: "a change of the database's format is made whole or not at all",
    file: "src/foundation/store/database.ts",
    find: "for (const sql of migrations.slice(version)) db.exec(sql);",
    replace:
      "for (const sql of migrations.slice(version)) db.exec(`${sql}; COMMIT; BEGIN IMMEDIATE`);",
    tests: [points],
    only: "migrating",
    built: true,
  },
  {
    defence: "a damaged state.db is never replaced",
    file: "src/foundation/store/database.ts",
    find: "    throw unopened(path, error);",
    replace:
      "    if (!existsSync(path)) throw unopened(path, error);\n    rmSync(path);\n    return openDatabase(path, migrations);",
    tests: [damaged],
    only: "that is text",
    built: true,
  },
  {
    defence: "an emptied state.db does not become a new one",
    file: "src/foundation/store/database.ts",
    find: "if (statSync(path).size === 0) throw emptied(path);",
    replace: "",
    tests: [damaged],
    only: "that was emptied",
    built: true,
  },
  {
    defence: "a read of a damaged state.db says what to do",
    file: "src/foundation/store/store-error.ts",
    find: "        throw storeError(path, error);",
    replace: "        throw error;",
    tests: [damaged],
    only: "any page of garbage",
  },
  {
    defence: "reading a store beside its scheduler changes no file of it",
    file: "src/foundation/store/open-to-read.ts",
    find: "{ readOnly: true }",
    replace: "{}",
    tests: ["test/foundation/store/store-reader.test.ts"],
  },
  {
    defence: "what a run returned is shown without secrets also where no scheduler runs",
    file: "src/interfaces/operations/stored-project.ts",
    find: "redactor.add(await storedSecrets(home));",
    replace: "await storedSecrets(home);",
    tests: ["test/interfaces/cli/without-scheduler.test.ts"],
    only: "al show",
    built: true,
  },
];
