import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../src/runtime/wire/find-program.ts";
import { perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const dir = perTest(tempDir);
const add = (name: string, mode = 0o755): string => {
  const path = join(dir(), name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
};

test("findProgram searches the scheduler's PATH for the scheduler's user", async () => {
  const PATH = `/nowhere:${dir()}::/usr/bin`;
  const search = (program: string) => findProgram(program, "$USER", { PATH });
  expect(await search("claude")).toBe("missing");
  add("claude");
  add("codex", 0o644);
  expect(await Promise.all(["claude", "codex", "env"].map(search))).toEqual([
    "found",
    "missing",
    "found",
  ]);
});

test.each(["$USER", "al-agent"])(
  "findProgram checks a path for the user %s, except in the run's own folder",
  async (runAs) => {
    expect(await findProgram(add("claude"), runAs, {})).toBe("found");
    expect(await findProgram(join(dir(), "gone"), runAs, {})).toBe("missing");
    expect(await findProgram("./scripts/claude", runAs, {})).toBe("found");
  },
);

test("findProgram returns unlikely if only another user's PATH may have a program", async () => {
  add("claude");
  const search = (program: string, PATH?: string) => findProgram(program, "al-agent", { PATH });
  expect(await search("claude", dir())).toBe("found");
  expect(await search("no-such-cli", dir())).toBe("unlikely");
  expect(await search("env")).toBe("found");
});

test("findProgram returns found for a path that only the agent's OS user can look at", async () => {
  mkdirSync(join(dir(), "private"), { mode: 0o000 });
  const path = join(dir(), "private/claude");
  const isRoot = process.getuid?.() === 0;
  expect(await findProgram(path, "al-agent", {})).toBe(isRoot ? "missing" : "found");
  expect(await findProgram(path, "$USER", {})).toBe("missing");
});
