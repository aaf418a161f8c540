import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runName, type PlacedRun } from "../../../src/runtime/cluster/cluster-engine.ts";
import { createLeftovers } from "../../../src/runtime/cluster/leftovers.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { createRecordFiles } from "../../../src/runtime/runners/record-files.ts";

const placed = (name: string, instanceId: string): PlacedRun => ({
  name,
  instanceId,
  state: "running",
  node: null,
  problem: null,
  endings: 0,
});

test("an instance ID with a path, from another client, deletes no file outside of the records", async () => {
  const folder = tempDir();
  await writeFile(join(folder, "other.json"), "{}");
  const records = createRecordFiles<object>(join(folder, "records"));
  await records.write("dev-live", {});
  await records.write("dev-over", {});
  const removed: string[] = [];
  const leftovers = createLeftovers(
    {
      list: () =>
        Promise.resolve([
          placed(runName("dev-live"), "dev-live"),
          placed("al-written", "../other"),
          placed(runName("dev-gone"), "dev-gone"),
        ]),
      remove: (name) => Promise.resolve(void removed.push(name)),
    },
    records,
  );
  await leftovers.reap((id) => id === "dev-live");
  expect(removed.sort()).toEqual(["al-written", runName("dev-gone"), runName("dev-over")].sort());
  expect(await records.list()).toEqual(["dev-live"]);
  expect(await readFile(join(folder, "other.json"), "utf8")).toBe("{}");
});
