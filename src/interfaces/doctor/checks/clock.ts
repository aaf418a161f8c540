import { momentText } from "../../../foundation/contracts/format.ts";
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isTimezone } from "../../../foundation/config/fields.ts";
import { momentIn } from "../../views/moment-in.ts";
import { agentsInWords, alCommand, finding, ok, type Check, type Finding } from "../finding.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import cronstrue from "cronstrue";
import { isoTime } from "../../../../streams/iso-times.ts";
import type { Calendar, Calendars } from "../../../../streams/triggers/calendar.ts";
import { limited, nextRun, type LimitedSchedule } from "../../../../streams/triggers/next-run.ts";
import { schedulesOf, type AgentConfig } from "../../../../streams/agent-config.ts";

/** A file system's clock may be a little ahead, in ms. */
const tolerance = 5 * 60_000;

/** Whether the clock and the time zone are right: schedules, timeouts and webhook signatures depend on them. */
export const clock: Check = async (context) => {
  const found = [...zone(context), ...(await ahead(context)), ...(await unsynchronized(context))];
  const timeZone = context.project?.timezone;
  if (found.length > 0 || timeZone === undefined) return found;
  const time = new Date().toLocaleTimeString("en-GB", { timeZone, timeStyle: "short" });
  return [ok(`schedules use ${timeZone}, where it is ${time}`)];
};

function zone({ env }: DoctorContext): Finding[] {
  const name = env.TZ?.replace(/^:/, "") ?? "";
  if (name === "" || isTimezone(name)) return [];
  return [
    finding(
      "warning",
      `TZ is ${JSON.stringify(name)}, which is not an IANA time zone, so UTC applies`,
      "TZ",
      "export TZ=Europe/Berlin (or your own), or set timezone in config.toml",
    ),
  ];
}

/** Files of the scheduler can't be younger than now. */
async function ahead({ projectDir }: DoctorContext): Promise<Finding[]> {
  const logs = join(projectDir, ".al", "logs");
  const names = await readdir(logs).catch(() => []);
  const files = [join(projectDir, ".al", "state.db"), ...names.map((name) => join(logs, name))];
  for (const path of files) {
    const written = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    if (written <= Date.now() + tolerance) continue;
    const text = `the clock went back: this was written at ${momentText(written)}`;
    const fix = `set the clock; if it is right: touch ${shellWord(path)}`;
    return [finding("warning", text, path, fix)];
  }
  return [];
}

/** Asks systemd, if available. */
async function unsynchronized({ env }: DoctorContext): Promise<Finding[]> {
  const args = ["show", "-p", "NTPSynchronized", "--value"];
  const answer = await promisify(execFile)("timedatectl", args, { env, timeout: 5000 }).catch(
    () => null,
  );
  if (answer?.stdout.trim() !== "no") return [];
  const text = "the clock is not synchronized with a time server";
  return [finding("warning", text, "timedatectl", "sudo timedatectl set-ntp true")];
}

/** Describes each schedule in words, with its next runs: cron expressions are easily misread. */
export const schedules: Check = (context) => {
  const calendars = context.project?.calendars ?? {};
  const all = enabledAgents(context).flatMap((agent) => scheduled(agent, calendars));
  const isShort = all.length > agentsInWords;
  const found = isShort ? [ok(inShort(all, context))] : all.map(inWords).map(ok);
  return [...found, ...all.flatMap(neverDue), ...Object.entries(calendars).flatMap(ended)];
};

const shown = 3;

interface Scheduled extends LimitedSchedule {
  /** The agent, with the schedule's name if it has one. */
  readonly name: string;
}

function scheduled(agent: AgentConfig, calendars: Calendars): Scheduled[] {
  return schedulesOf(agent).map((entry) => {
    const name = entry.name === "" ? agent.name : `${agent.name} ${entry.name}`;
    return { name, ...limited(entry, calendars) };
  });
}

function inWords({ name, ...schedule }: Scheduled): string {
  const { expression, timezone } = schedule;
  const times: string[] = [];
  let at: number | null = Date.now();
  while (times.length < shown) {
    at = nextRun(schedule, at);
    if (at === null) break;
    times.push(momentIn(timezone, at));
  }
  return `${name}: ${meaning(expression)} (${timezone}); next ${times.join(", ") || "never"}`;
}

/** Many schedules in one line, with those that run first. */
function inShort(all: readonly Scheduled[], context: DoctorContext): string {
  const now = Date.now();
  const ticks = all.flatMap(({ name, ...schedule }) => {
    const { timezone } = schedule;
    const at = nextRun(schedule, now);
    return at === null ? [] : [{ at, text: `${name} ${momentIn(timezone, at)} (${timezone})` }];
  });
  const first = ticks.sort((a, b) => a.at - b.at).slice(0, shown);
  const next = first.map(({ text }) => text).join(", ");
  return `there are ${all.length} schedules (${alCommand(context, "schedule")}); next ${next}`;
}

function neverDue({ name, ...schedule }: Scheduled): Finding[] {
  if (schedule.leftOut === undefined || nextRun(schedule, Date.now()) !== null) return [];
  const text = `${name}: its calendars leave out all of its runs`;
  return [finding("warning", text, null, "change its calendar, or the calendars of the project")];
}

/** A file of holidays is often for some years. */
function ended([name, { spans, windows }]: readonly [string, Calendar]): Finding[] {
  const end = Math.max(0, ...spans.map(({ until }) => until));
  if (windows.length > 0 || end > Date.now()) return [];
  const after = end === 0 ? "" : ` after ${isoTime(end - 1).slice(0, 10)}`;
  const text = `the calendar ${name} has no day${after}`;
  return [finding("warning", text, `config.toml [calendars.${name}]`, "add the next years")];
}

function meaning(expression: string): string {
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    // The scheduler's parser, which accepted it, may know more.
    return `"${expression}"`;
  }
}
