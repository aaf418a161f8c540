// Looks for words in everything that a run can read of itself: its processes (environment, arguments, memory) and its
// files. Prints one line of JSON: by word, where it was found. The words come backwards, so that this process and the
// shell that started it don't hold them.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

const words = process.argv.slice(2).map((word) => [...word].reverse().join(""));
const found = Object.fromEntries(process.argv.slice(2).map((word) => [word, []]));
const own = `AL_INSTANCE=${process.env.AL_INSTANCE}\0`;

function look(where, bytes) {
  words.forEach((word, index) => {
    if (bytes.includes(word)) found[process.argv[index + 2]].push(where);
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
  for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
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
  if (environment === null || !`${environment}\0`.includes(own)) continue;
  const command = readFileSync(`/proc/${pid}/cmdline`);
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

for (const entry of readdirSync(process.cwd(), { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile()) look(path, attempt(() => readFileSync(path)) ?? Buffer.alloc(0));
}
console.log(`LOOKED ${JSON.stringify({ found, programs })}`);
