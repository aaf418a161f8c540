import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** The versions that `src/runtime/harness/llm-cli/` is made for. */
export const packages = {
  "@anthropic-ai/claude-code": "2.1.332",
  "@openai/codex": "0.171.0",
  "@google/gemini-cli": "0.61.0",
};

const cache = resolve(import.meta.dirname, "../../../../node_modules/.cache");

/**
 * Installs the real LLM command lines, once for each clone, and returns the folder of their programs; null, with the
 * reason on standard error, where the registry does not answer.
 */
export async function realPrograms(): Promise<string | null> {
  const dir = join(cache, `llm-clis-${Object.values(packages).join("-")}`);
  const bin = join(dir, "node_modules/.bin");
  if (existsSync(bin)) return bin;
  const fresh = `${dir}.${process.pid}`;
  await mkdir(fresh, { recursive: true });
  await writeFile(join(fresh, "package.json"), JSON.stringify({ dependencies: packages }));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0"];
  const npm = spawnSync("npm", ["install", ...options], { cwd: fresh, timeout: 240_000 });
  // claude's script puts the program of this machine, which is installed beside it, into its place.
  const place = { cwd: join(fresh, "node_modules/@anthropic-ai/claude-code") };
  if (npm.status === 0 && spawnSync(process.execPath, ["install.cjs"], place).status === 0) {
    await rename(fresh, dir).catch(() => undefined);
  }
  await rm(fresh, { recursive: true, force: true });
  if (existsSync(bin)) return bin;
  const why = npm.error?.message ?? npm.stderr.toString("utf8").trim().split("\n").at(-1);
  process.stderr.write(`skipped: the real LLM command lines can't be installed: ${why ?? ""}\n`);
  return null;
}
