import type { DatabaseSync } from "node:sqlite";
import type { FeatureTables } from "../../../src/foundation/store/feature-tables.ts";
import type { GroupCommit } from "../../../src/foundation/store/group-commit.ts";
import { openStoreWith } from "../../../src/foundation/store/store.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A feature whose rows name blobs. */
const tablesOf = (name: string): FeatureTables => ({
  steps: [`CREATE TABLE ${name} (hash TEXT) STRICT;`],
  blobs: `SELECT hash FROM ${name}`,
});

const writer = (name: string) => (db: DatabaseSync, commits: GroupCommit) => ({
  add: (hash: string) =>
    commits.write(() => void db.prepare(`INSERT INTO ${name} VALUES (?)`).run(hash)),
});

test("the blobs of a store are those that the rows of any feature name", async () => {
  const features = [tablesOf("reports"), { steps: [] }, tablesOf("notes")];
  const store = openStoreWith(features, tempDir(), Date.now);
  onTestFinished(() => store.close());
  expect(store.usedBlobs()).toEqual(new Set());
  const [reports, notes] = [store.tables(writer("reports")), store.tables(writer("notes"))];
  await Promise.all([reports.add("a"), reports.add("b"), notes.add("b"), notes.add("c")]);
  expect(store.usedBlobs()).toEqual(new Set(["a", "b", "c"]));
});
