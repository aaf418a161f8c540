// Looks for words in everything that a run can read: the processes of its project's runs and those that wait for one
// (environment, arguments, memory), and the files below its working directory and of further roots, behind `--`. Prints
// one line of JSON: by word, where it was found. Of each word come the even letters and, behind `_`, the odd ones, so that
// this process and the shell that started it don't hold it.
import { closeSync, openSync, opendirSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

const [halves, roots] = split(process.argv.slice(2));
const words = halves.map((word) => {
  const [even, odd] = word.split("_");
  return [...even].map((letter, index) => letter + (odd[index] ?? "")).join("");
});
const found = Object.fromEntries(halves.map((word) => [word, []]));
const runs = /(^|\0)AL_INSTANCE=looker/;

function split(args) {
  const at = args.indexOf("--");
  return at === -1 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

function look(where, bytes) {
  words.forEach((word, index) => {
    if (bytes.includes(word)) found[halves[index]].push(where);
  });
}

function attempt(read) {
  try {
    return read();
  } catch {
    return null;
  }
}

function lookAtMemory(pid) {
  const file = attempt(() => openSync(`/proc/${pid}/mem`, "r"));
  if (file === null) return false;
  const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, "utf8")) ?? "";
  for (const line of maps.split("\n")) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (from === undefined) continue;
    const start = Number.parseInt(from, 16);
    const bytes = Buffer.alloc(Math.min(Number.parseInt(to, 16) - start, 64 * 1024 * 1024));
    const size = attempt(() => readSync(file, bytes, 0, bytes.length, start)) ?? 0;
    look(`memory of ${pid}`, bytes.subarray(0, size));
  }
  closeSync(file);
  return true;
}

const programs = [];
for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
  const environment = attempt(() => readFileSync(`/proc/${pid}/environ`));
  if (environment === null || !runs.test(environment)) continue;
  const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`)) ?? "";
  look(`environment of ${pid}`, environment);
  look(`arguments of ${pid}`, command);
  if (Number(pid) === process.pid || lookAtMemory(pid)) {
    programs.push(
      command
        .toString()
        .replace(/[^\w/.-]+/g, " ")
        .slice(0, 400),
    );
  }
}

const skipped = /^\/(proc|sys|dev|usr|lib\w*|s?bin|boot)$/;
function lookBelow(dir) {
  const open = attempt(() => opendirSync(dir));
  for (let entry; (entry = attempt(() => open?.readSync()));) {
    const path = join(dir, entry.name);
    if (entry.isDirectory() && !skipped.test(path)) lookBelow(path);
    if (entry.isFile()) look(path, attempt(() => readFileSync(path)) ?? "");
  }
  attempt(() => open?.closeSync());
}
for (const root of [process.cwd(), ...roots]) lookBelow(root);
console.log(`LOOKED ${JSON.stringify({ found, programs })}`);
