/** Runs every check of package.json side by side (`npm run check`), and prints what each wrote once it has ended. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));

async function run(script) {
  const child = spawn(scripts[script], { shell: true, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  process.stdout.write(await text(child.stdout));
  if ((await ended) === 0) return;
  process.stderr.write(`error: npm run ${script} failed\n`);
  process.exitCode = 1;
}

const checks = Object.keys(scripts).filter((script) => script.startsWith("check:"));
await Promise.all(checks.map(run));
