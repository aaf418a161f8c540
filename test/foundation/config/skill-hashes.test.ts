import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSkillHashes } from "../../../src/foundation/config/skill-hashes.ts";

test("each file of a skill has a hash, which changes with its bytes and its mode", async () => {
  const project = mkdtempSync(join(tmpdir(), "al-skill-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const agent = join(project, "agents", "dev");
  const hashesOf = createSkillHashes(project);
  expect(await hashesOf("dev")).toEqual({});
  mkdirSync(join(agent, "scripts", "inner"), { recursive: true });
  writeFileSync(join(agent, "scripts", "a.sh"), "one");
  writeFileSync(join(agent, "scripts", "inner", "b.sh"), "one");
  const first = await hashesOf("dev");
  expect(Object.keys(first).sort()).toEqual(["scripts/a.sh", "scripts/inner/b.sh"]);
  expect(first["scripts/a.sh"]).toMatch(/^[0-9a-f]{16}$/);
  expect(first["scripts/inner/b.sh"]).toBe(first["scripts/a.sh"]);
  expect(await hashesOf("dev")).toEqual(first);

  writeFileSync(join(agent, "scripts", "a.sh"), "two");
  chmodSync(join(agent, "scripts", "inner", "b.sh"), 0o700);
  const second = await hashesOf("dev");
  expect(second["scripts/a.sh"]).not.toBe(first["scripts/a.sh"]);
  expect(second["scripts/inner/b.sh"]).toBe(`${first["scripts/inner/b.sh"] ?? ""} executable`);

  symlinkSync("/etc/passwd", join(agent, "scripts", "link"));
  await expect(hashesOf("dev")).rejects.toThrow("is a link");
});
