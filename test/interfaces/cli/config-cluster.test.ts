import { expect, onTestFinished, test } from "vitest";
import { makeFolders } from "./fake-operator.ts";

test("al config sets a cluster, and prints it with the keys of the file", async () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const sets = ["--set", "cluster.engine=swarm", "--set", "cluster.address=10.0.0.5:8443"];
  expect(await folders.al(["config", ...sets])).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await folders.al(["config"]);
  expect(stdout).toContain('cluster.engine = "swarm"');
  expect(stdout).toContain("cluster.lease = 90");
  const lines = stdout.split("\n").filter((line) => line.startsWith("cluster."));
  const again = await folders.al(["config", ...lines.flatMap((line) => ["--set", line])]);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect((await folders.al(["config"])).stdout).toBe(stdout);
});
