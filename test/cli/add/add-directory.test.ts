import { existsSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolders } from "../fake-operator.ts";
import type { Folders } from "../fake-operator.ts";

const skill = "---\nname: Triage\ndescription: Sorts issues\n---\n\nSort them.\n";
const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';

let folders: Folders;
beforeEach(() => {
  folders = makeFolders();
  writeFileSync(join(folders.projectDir, "config.toml"), project);
});
afterEach(() => folders.remove());

function agentDir(name: string): string {
  return join(folders.projectDir, "agents", name);
}

describe("al add", () => {
  test("takes a directory that is no repository, and al update finds nothing to do", async () => {
    const dir = join(folders.home, "my skills", "triage");
    mkdirSync(join(dir, "scripts"), { recursive: true });
    writeFileSync(join(dir, "SKILL.md"), skill);
    writeFileSync(join(dir, 'scripts/odd "name".sh'), "#!/bin/sh\n", { mode: 0o755 });
    const added = await folders.al(["add", pathToFileURL(dir).href, "--yes"]);
    expect(added).toMatchObject({ code: 0 });
    const script = join(agentDir("triage"), 'scripts/odd "name".sh');
    expect(statSync(script).mode & 0o111).not.toBe(0);
    expect(await folders.al(["update", "triage", "--yes"])).toMatchObject({ code: 0 });
  });

  test("of a directory with links and masses it takes nothing", async () => {
    const dir = join(folders.home, "linked");
    mkdirSync(dir, { recursive: true });
    symlinkSync("/etc/passwd", join(dir, "SKILL.md"));
    const linked = await folders.al(["add", pathToFileURL(dir).href, "--yes"]);
    expect(linked.stderr).toContain('"SKILL.md" is a symbolic link');
    expect(linked.code).toBe(1);
    writeFileSync(join(dir, "video"), "");
    truncateSync(join(dir, "video"), 65 * 1024 ** 2);
    const many = await folders.al(["add", pathToFileURL(dir).href, "--yes"]);
    expect(many.stderr).toContain("more than 5000 files or 64 MiB");
    expect(existsSync(join(folders.projectDir, "agents"))).toBe(false);
  });
});
