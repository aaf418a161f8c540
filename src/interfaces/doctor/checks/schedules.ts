import cronstrue from "cronstrue";
import { nextTick } from "../../../../streams/triggers/next-tick.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { Check } from "../finding.ts";
import { agentsInWords, alCommand, ok } from "../finding.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** In words when each agent runs, and when next: what a cron expression means is easily mistaken. */
export const schedules: Check = {
  name: "schedules",
  run: (context) => {
    const all = enabledAgents(context).flatMap(scheduled);
    return all.length > agentsInWords ? [ok(inShort(all, context))] : all.map(inWords).map(ok);
  },
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
    // What runs was accepted by another parser, which may know more.
    return `"${expression}"`;
  }
}

/** `Mon 23 Nov 09:00`, with the year when it is another one than now. */
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
