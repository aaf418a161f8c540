import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asRoot } from "./system.ts";

/** Where sudo finds a rule: a file of its own, named after the alias in it. */
export function rulePath(rule: string): string {
  const [, id = ""] = /ALMANAC_([0-9A-F]+)/.exec(rule) ?? [];
  return `/etc/sudoers.d/almanac-${id.toLowerCase()}`;
}

/**
 * Installs a rule after visudo has checked it, and removes it again when it conflicts with the other rules: a
 * broken one would lock all users out of sudo. It is renamed into place, so that sudo never reads half of it or another
 * mode; sudo passes over names with a dot. Rejects with the reason when it can't.
 */
export async function installRule(rule: string, env: NodeJS.ProcessEnv): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "al-sudoers-"));
  const path = rulePath(rule);
  try {
    const draft = join(dir, "rule");
    await writeFile(draft, rule, { mode: 0o440 });
    await asRoot("visudo", ["-c", "-q", "-f", draft], env);
    await asRoot("install", ["-m", "440", "-o", "root", "-g", "root", draft, `${path}.new`], env);
    await asRoot("mv", ["-f", `${path}.new`, path], env);
    await asRoot("visudo", ["-c", "-q"], env).catch(async (error: unknown) => {
      await asRoot("rm", ["-f", path], env);
      throw error;
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
