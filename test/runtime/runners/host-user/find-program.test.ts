import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../../src/runtime/runners/host-user/find-program.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

function tempBin() {
  const dir = tempDir();
  const add = (name: string, mode = 0o755): string => {
    writeFileSync(join(dir, name), "#!/bin/sh\n");
    chmodSync(join(dir, name), mode);
    return join(dir, name);
  };
  return { dir, add };
}

test("a run of this user finds only the programs on the scheduler's PATH", async () => {
  const { dir, add } = tempBin();
  const env = { PATH: `/nowhere:${dir}::/usr/bin` };
  const search = (program: string) => findProgram(program, "$USER", env);
  expect(await search("claude")).toBe("missing");
  add("claude");
  add("codex", 0o644);
  expect([await search("claude"), await search("codex")]).toEqual(["found", "missing"]);
  expect(await search("env")).toBe("found");
});

test("a path is checked, except one that begins in the run's own folder", async () => {
  const { dir, add } = tempBin();
  const path = add("claude");
  for (const runAs of ["$USER", "al-agent"]) {
    expect(await findProgram(path, runAs, {})).toBe("found");
    expect(await findProgram(join(dir, "gone"), runAs, {})).toBe("missing");
    expect(await findProgram("./scripts/claude", runAs, {})).toBe("found");
  }
});

test("a program that is not on the scheduler's PATH may be on another user's", async () => {
  const { dir, add } = tempBin();
  add("claude");
  expect(await findProgram("claude", "al-agent", { PATH: dir })).toBe("found");
  expect(await findProgram("no-such-cli", "al-agent", { PATH: dir })).toBe("unlikely");
  expect(await findProgram("env", "al-agent", {})).toBe("found");
});

test("a program in a folder that only the other user may enter may exist", async () => {
  const { dir } = tempBin();
  mkdirSync(join(dir, "private"), { mode: 0o000 });
  const path = join(dir, "private/claude");
  const isRoot = process.getuid?.() === 0;
  expect(await findProgram(path, "al-agent", {})).toBe(isRoot ? "missing" : "found");
  expect(await findProgram(path, "$USER", {})).toBe("missing");
});
