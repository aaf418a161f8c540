import { schedulesOf } from "../../../../streams/agent-config.ts";
import { momentText } from "../../../foundation/contracts/format.ts";
import { readTickTimes } from "../../../foundation/store/read-beside.ts";
import { countTicks } from "../../../../streams/triggers/count-ticks.ts";
import { limited, nextRun } from "../../../../streams/triggers/next-run.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { alCommand, finding, ok, type Check, type Finding } from "../finding.ts";

const periodMs = 7 * 86_400_000;
/** How many of an agent's last runs give the time of the next ones. */
const lastRuns = 20;

/**
 * Whether the project's slots suffice for its schedules: one tick of each agent waits for a slot, earlier ones are skipped.
 * An agent without past runs counts only among those that are due at once.
 */
export const slots: Check = (context) => {
  const { project, projectDir } = context;
  if (project === null || project.scale === null) return [];
  const now = Date.now();
  const agents = enabledAgents(context);
  const times = readTickTimes(
    projectDir,
    agents.map(({ name }) => name),
    lastRuns,
  );
  let needed = 0;
  const due = new Map<number, number>();
  for (const agent of agents) {
    let ticks = 0;
    for (const entry of schedulesOf(agent)) {
      const next = nextRun(limited(entry, project.calendars), now);
      if (next === null) continue;
      ticks += countTicks(entry, now, now + periodMs);
      due.set(next, (due.get(next) ?? 0) + 1);
    }
    needed += Math.min((ticks * (times.get(agent.name) ?? 0)) / periodMs, agent.scale);
  }
  return [...tooFew(needed, project.scale, context), ...dueTogether(due, project.scale)];
};

function tooFew(needed: number, scale: number, context: DoctorContext): Finding[] {
  if (needed <= scale) return [];
  const text = `scheduled runs need ${needed.toFixed(1)} slots on average (based on their last ${lastRuns}), but scale is ${scale}: some of them are skipped`;
  const command = alCommand(context, `config --set scale=${Math.ceil(needed)}`);
  const fix = `let agents run less often, or: ${command}`;
  return [finding("warning", text, "config.toml scale", fix)];
}

/** `due` has the number of agents by the time of their next tick. */
function dueTogether(due: ReadonlyMap<number, number>, scale: number): Finding[] {
  const [[at, count] = [0, 0]] = [...due].toSorted(([, a], [, b]) => b - a);
  if (count <= scale) return [];
  const text = `${count} agents are due ${momentText(at)}, but only ${scale} can run at once: the others start late`;
  return [ok(text)];
}
