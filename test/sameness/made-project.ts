import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LiveProject } from "../helpers/live-project.ts";
import { madeAgents } from "../helpers/made-day/agents.ts";
import { madeDay } from "../helpers/made-day/made-day.ts";
import { clockAhead } from "../helpers/scheduler.ts";

/** The made day ends then; the clock of its scheduler and of the commands goes on from there. */
export const now = Date.parse("2026-03-10T12:00:00Z");

/** The environment of its scheduler and commands. */
export const env = { TZ: "UTC", ...clockAhead(now - Date.now()) };

const ofWeb = madeAgents.filter(({ area }) => area === "web");

/** A project with the made day of five agents behind it, and a delivery in `payload.json`. */
export async function makeProject(): Promise<LiveProject> {
  const made = new LiveProject(await madeDay(ofWeb, now));
  for (const name of ["report-web", "sync-web"])
    await made.edit(`agents/${name}/config.toml`, /^schedule = .*$/m, 'schedule = "0 0 29 2 *"');
  await made.write(
    "payload.json",
    '{ "action": "opened", "repository": { "full_name": "acme/web" } }',
  );
  return made;
}

/** The command lines of a fixture, which also holds their output. */
export function commandsOf(file: string, line: RegExp): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, file), "utf8");
  return [...text.matchAll(line)].map(([, words = ""]) => words);
}

/** A text without what differs from run to run: folders, ids, addresses, times since the day's end, and the forecast made from them. */
export function settled(text: string, { dir }: LiveProject): string {
  return text
    .replaceAll(dirname(dir), "<folder>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (Date.parse(time) > now ? "<later>" : time))
    .replaceAll(/"(monthUsd|p90Usd)":[\d.]+/g, '"$1":0')
    .replaceAll(/"(?:lastD|d)urationMs":\d{1,4}\b/g, '"durationMs":0')
    .replaceAll(/"(time|pid)":\d+/g, '"$1":0')
    .replaceAll(/localhost:\d+/g, "localhost:0")
    .replaceAll(/al_[\w-]{20,}/g, "<token>")
    .replaceAll(/-web-(?!acbhinla)[a-z\d]{8}\b/g, "-web-<run>")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, "<id>");
}
