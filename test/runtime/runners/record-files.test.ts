import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRecordFiles } from "../../../src/runtime/runners/record-files.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

function recordFiles() {
  const folder = join(tempDir(), "run/containers");
  return { folder, records: createRecordFiles<{ readonly name: string }>(folder) };
}

test("a run's record stays for the next scheduler until it is removed", async () => {
  const { folder, records } = recordFiles();
  expect(await records.list()).toEqual([]);
  await records.write("dev-1", { name: "dev" });
  expect(await records.list()).toEqual(["dev-1"]);
  expect(await createRecordFiles(folder).read("dev-1")).toEqual({ name: "dev" });
  await records.remove("dev-1");
  await records.remove("dev-1");
  expect(await records.list()).toEqual([]);
  expect(await records.read("dev-1")).toBeNull();
});

test("records of runs are private files, and an incomplete record reads as null", async () => {
  const { folder, records } = recordFiles();
  await records.write("dev-1", { name: "dev" });
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "dev-1.json"))).mode & 0o777).toBe(0o600);
  await writeFile(join(folder, "dev-2.json"), `{"name":`);
  expect(await records.read("dev-2")).toBeNull();
  expect(await records.list()).toEqual(["dev-1", "dev-2"]);
});
