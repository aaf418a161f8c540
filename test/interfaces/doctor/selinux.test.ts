import { join } from "node:path";
import { ward } from "./support.ts";

const inContainer = 'models = ["scripted"]\ncredentials = []\nschedule = "0 9 * * *"\n';

test.each([
  ["enforces SELinux", "1", inContainer, 1],
  ["enforces SELinux and has no agent in a container", "1", null, 0],
  ["only logs SELinux's denials", "0", inContainer, 0],
])("the doctor finds the remedy for containers on a machine that %s", async (...given) => {
  const [, enforce, config, count] = given;
  ward.write("enforce", enforce);
  if (config !== null) ward.write("agents/dev/config.toml", config);
  const found = await ward.found("selinux", { selinux: join(ward.dir, "enforce") });
  expect(found).toHaveLength(count);
  for (const { fix } of found) expect(fix).toContain("audit2allow -M almanac");
});
