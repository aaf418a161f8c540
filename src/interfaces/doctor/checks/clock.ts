import { momentText } from "../../../foundation/contracts/format.ts";
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isTimezone } from "../../../foundation/config/fields.ts";
import { agentsInWords, alCommand, finding, ok, type Check, type Finding } from "../finding.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import cronstrue from "cronstrue";
import { nextTick } from "../../../../streams/triggers/next-tick.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";

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

/** Describes each schedule in words, with its next ticks: cron expressions are easily misread. */
export const schedules: Check = (context) => {
  const all = enabledAgents(context).flatMap(scheduled);
  return all.length > agentsInWords ? [ok(inShort(all, context))] : all.map(inWords).map(ok);
};

const shown = 3;

interface Scheduled {
  readonly agent: AgentConfig;
  readonly expression: string;
}

function scheduled(agent: AgentConfig): Scheduled[] {
  const { schedule: expression } = agent;
  return expression === null ? [] : [{ agent, expression }];
}

function inWords({ agent: { name, timezone }, expression }: Scheduled): string {
  const times: string[] = [];
  let at: number | null = Date.now();
  while (times.length < shown) {
    at = nextTick({ expression, timezone }, at);
    if (at === null) break;
    times.push(momentIn(timezone, at));
  }
  return `${name}: ${meaning(expression)} (${timezone}); next ${times.join(", ")}`;
}

/** Many agents in one line, with those that run first. */
function inShort(all: readonly Scheduled[], context: DoctorContext): string {
  const now = Date.now();
  const ticks = all.flatMap(({ agent: { name, timezone }, expression }) => {
    const at = nextTick({ expression, timezone }, now);
    return at === null ? [] : [{ at, text: `${name} ${momentIn(timezone, at)} (${timezone})` }];
  });
  const first = ticks.sort((a, b) => a.at - b.at).slice(0, shown);
  const next = first.map(({ text }) => text).join(", ");
  return `${all.length} agents have a schedule (${alCommand(context, "stat")}); next ${next}`;
}

function meaning(expression: string): string {
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    // The scheduler's parser, which accepted it, may know more.
    return `"${expression}"`;
  }
}

/** `Mon 23 Nov 09:00`, with the year if it is not this one. */
function momentIn(timeZone: string, at: number): string {
  const isThisYear = yearIn(timeZone, at) === yearIn(timeZone, Date.now());
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  const day = { weekday: "short", day: "numeric", month: "short", ...year } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false } as const;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...day, ...clock });
  return format.format(at).replaceAll(",", "");
}

function yearIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone, year: "numeric" }).format(at);
}
