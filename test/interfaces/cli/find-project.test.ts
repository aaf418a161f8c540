import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "../../../src/interfaces/cli/context.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A directory with these files in it; those that end in `/` are directories. */
function tree(...paths: readonly string[]): string {
  const root = tempDir();
  for (const path of paths) {
    mkdirSync(join(root, path, path.endsWith("/") ? "." : ".."), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(join(root, path), "");
  }
  return root;
}

const hello = ["p/agents/hello/config.toml", "p/agents/hello/SKILL.md"];

test.each(["p", "p/agents", "p/agents/hello", "p/agents/hello/scripts", "p/notes/old"])(
  "al finds the project p from the directory %s",
  (from) => {
    const root = tree("p/config.toml", ...hello, "p/agents/hello/scripts/", "p/notes/old/");
    expect(findProject(join(root, from))).toBe(join(root, "p"));
  },
);

test("al finds a project without agents, and a project without a config", () => {
  const root = tree("empty/config.toml", "bare/agents/");
  expect(findProject(join(root, "empty"))).toBe(join(root, "empty"));
  expect(findProject(join(root, "bare"))).toBe(join(root, "bare"));
});

test("al does not take a parent directory with only a config.toml or only agents/ for a project", () => {
  const root = tree("cargo/config.toml", "cargo/a/", "home/agents/", "home/a/");
  expect(findProject(join(root, "cargo/a"))).toBe(join(root, "cargo/a"));
  expect(findProject(join(root, "home/a"))).toBe(join(root, "home/a"));
});

test("al takes a project in a directory called agents for a project", () => {
  const root = tree("agents/ops/config.toml", "agents/ops/agents/dev/SKILL.md");
  expect(findProject(join(root, "agents/ops"))).toBe(join(root, "agents/ops"));
  expect(findProject(join(root, "agents/ops/agents/dev"))).toBe(join(root, "agents/ops"));
});
