import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLastRuns } from "../../../src/foundation/store/read-last-runs.ts";
import { openStore } from "../../../src/foundation/store/store.ts";
import { spendOn } from "./spend-on.ts";
import { tempDir, tempStore } from "./support.ts";

test("reads what runs cost beside an open store, and after it, and makes no file", async () => {
  const dir = tempDir();
  expect(readLastRuns(dir, 20)).toEqual(new Map());
  const store = openStore(dir);
  await spendOn(store, "dev", [5, 7]);
  expect(readLastRuns(dir, 20).get("dev")?.costs.toSorted()).toEqual([5, 7]);
  store.close();
  const files = readdirSync(join(dir, ".al"));
  expect(readLastRuns(dir, 1).get("dev")?.costs).toHaveLength(1);
  expect(readdirSync(join(dir, ".al"))).toEqual(files);
});

test("a database that can't be read has no runs", () => {
  const dir = tempDir();
  mkdirSync(join(dir, ".al"));
  writeFileSync(join(dir, ".al/state.db"), "no database at all");
  expect(readLastRuns(dir, 20)).toEqual(new Map());
  expect(readLastRuns(tempDirOfStore(), 20)).toEqual(new Map());
});

function tempDirOfStore(): string {
  const dir = tempDir();
  tempStore(dir);
  return dir;
}
