/**
 * Runs every check of package.json side by side (`npm run check`), and prints each one's output once it has ended. The
 * arguments are a command that runs at the same time.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));

async function run(name, command, stdout) {
  const child = spawn(command, { shell: true, stdio: ["ignore", stdout, "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  if (child.stdout !== null) process.stdout.write(await text(child.stdout));
  if ((await ended) === 0) return;
  process.stderr.write(`error: ${name} failed\n`);
  process.exitCode = 1;
}

const checks = Object.keys(scripts).filter((script) => script.startsWith("check:"));
const quoted = (word) => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
const beside = process.argv.slice(2).map(quoted).join(" ");
await Promise.all([
  ...checks.map((script) => run(`npm run ${script}`, scripts[script], "pipe")),
  ...(beside === "" ? [] : [run(beside, beside, "inherit")]),
]);
