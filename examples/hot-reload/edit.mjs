/**
 * Edits the schedule of agents/tick as you watch: a good one, nonsense, a good one again, then the first. Each edit is
 * saved in another way that editors use. At the end, and at Ctrl-C, the file is as it was.
 * `node edit.mjs [seconds between edits]`
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const file = join(import.meta.dirname, "agents/tick/config.toml");
const original = readFileSync(file, "utf8");
const pause = Number(process.argv[2] ?? 5) * 1000;

const inPlace = (text) => writeFileSync(file, text);
const byRename = (text) => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};
const byBackup = (text) => {
  renameSync(file, `${file}~`);
  writeFileSync(file, text);
};

const withSchedule = (schedule) =>
  original.replace(/^schedule = .*$/m, `schedule = ${JSON.stringify(schedule)}`);

async function edit(schedule, save, expectation) {
  console.log(`schedule = "${schedule}"  ${expectation}`);
  save(withSchedule(schedule));
  await sleep(pause);
}

process.once("exit", () => {
  inPlace(original);
  rmSync(`${file}~`, { force: true });
  console.log("restored");
});
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

await edit("0 9 * * *", inPlace, "Next Run is tomorrow, or today at 9");
await edit("every day", byRename, "tick shows an error; 0 9 * * * stays active; tock is untouched");
await edit("*/2 * * * *", byBackup, "the error is gone");
