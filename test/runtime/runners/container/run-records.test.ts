import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRunRecords } from "../../../../src/runtime/runners/container/run-records.ts";
import { aRequest } from "./support.ts";

describe("the records of runs in containers", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-records-"));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it("give back the config of a run until it is removed", async () => {
    const folder = join(dir, "run/containers");
    const records = createRunRecords(folder);
    expect(await records.list()).toEqual([]);
    const request = aRequest("a title", { params: { key: "value" } });
    await records.write(request);
    expect(await records.list()).toEqual([request.instanceId]);
    expect(await createRunRecords(folder).read(request.instanceId)).toEqual(request.agent);
    await records.remove(request.instanceId);
    await records.remove(request.instanceId);
    expect(await records.list()).toEqual([]);
    expect(await records.read(request.instanceId)).toBeNull();
  });

  it("are for the scheduler's user only, and half of one is none", async () => {
    const folder = join(dir, "containers");
    const records = createRunRecords(folder);
    await records.write({ ...aRequest("a"), instanceId: "dev-1" });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "dev-1.json"))).mode & 0o777).toBe(0o600);
    await writeFile(join(folder, "dev-2.json"), `{"name":`);
    expect(await records.read("dev-2")).toBeNull();
    expect(await records.list()).toEqual(["dev-1", "dev-2"]);
  });
});
