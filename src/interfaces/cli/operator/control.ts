import { setTimeout as sleep } from "node:timers/promises";
import {
  agentScope,
  maxRaiseUsd,
  neededText,
  projectScope,
  runScope,
} from "../../../foundation/contracts/budget.ts";
import { closest } from "../../../foundation/contracts/did-you-mean.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { readSchedulerInfo } from "../../../foundation/store/project-lock.ts";
import type { Context } from "../context.ts";
import {
  agentNames,
  connect,
  explained,
  readSnapshot,
  unknownAgent,
  withAgent,
} from "./connect.ts";
import { mustConfirm, openPrompts } from "../terminal/prompts.ts";
import type { Client } from "./client.ts";

/** Pauses all schedules or all new work, or disables one agent. */
export async function pause(
  context: Context,
  agent: string | undefined,
  { allWork = false }: { readonly allWork?: boolean },
): Promise<void> {
  if (agent !== undefined && allWork) {
    throw usageError(
      "give either an agent or --all-work",
      "Run `al pause --help` to see how it is used.",
    );
  }
  if (agent !== undefined) {
    return changeAgent(context, agent, "disable", `disabled until al resume ${agent}`);
  }
  const client = await connect(context);
  const answer = await client.perform("POST /control/pause", allWork ? { work: true } : {});
  const text = allWork
    ? "paused: all new work waits until al resume, and manual starts are refused"
    : "paused: cron jobs are skipped until al resume";
  context.out.answer(answer, text);
}

/** Ends a pause of schedules or of all new work, or enables one agent. */
export async function resume(context: Context, agent: string | undefined): Promise<void> {
  if (agent !== undefined) return changeAgent(context, agent, "enable", "enabled");
  const client = await connect(context);
  context.out.answer(
    await client.perform("POST /control/resume", {}),
    "resumed: schedules and new work run again",
  );
}

async function changeAgent(
  context: Context,
  agent: string,
  operation: "enable" | "disable",
  state: string,
): Promise<void> {
  const client = await connect(context);
  const asked = client.perform(`POST /control/agents/:name/${operation}`, { name: agent });
  const answer = await withAgent(client, agent, asked);
  context.out.answer(answer, `${agent} is ${state}`);
}

/** Starts the runs of an agent's gathering deliveries. */
export async function startNow(context: Context, agent: string): Promise<void> {
  const client = await connect(context);
  const asked = client.perform("POST /control/agents/:name/start-now", { name: agent });
  const answer = await withAgent(client, agent, asked);
  const { deliveries, runs } = answer;
  const text =
    deliveries === 0
      ? `no deliveries of ${agent} gather`
      : `${counted(runs, "run")} of ${agent} for ${deliveries} gathered`;
  context.out.answer(answer, text);
}

interface KillOptions {
  readonly all?: true;
  readonly yes?: true;
}

/** Ends the running runs of an agent, one run, or all runs of all agents. */
export async function kill(
  context: Context,
  target: string | undefined,
  { all, yes }: KillOptions,
): Promise<void> {
  if (all === true && target === undefined) return killAll(context, yes === true);
  if (all === true || target === undefined) {
    throw usageError(
      "give an agent, a run, or --all",
      "Run `al kill --help` to see how it is used.",
    );
  }
  const { out } = context;
  const client = await connect(context);
  const names = await agentNames(client);
  if (names.includes(target)) {
    const answer = await client.perform("POST /control/agents/:name/kill", { name: target });
    const { killed } = answer;
    const text = `${counted(killed, "run")} of ${target} killed`;
    return out.answer(answer, killed === 0 ? `${target} has no running runs` : text);
  }
  const agent = agentOf(target);
  if (agent === null || !names.includes(agent)) {
    const isRun = agent !== null && closest(target, names) === null;
    throw unknownAgent(isRun ? agent : target, names);
  }
  const asked = client.perform("POST /control/kill/:instanceId", { instanceId: target });
  const answer = await explained(asked, ["unknown_instance"], {
    message: `no run ${target} is running`,
    hint: "See how it ended with `al history`.",
  });
  out.answer(answer, `${target} killed`);
}

/** Asks first, unless `isSure`. */
async function killAll(context: Context, isSure: boolean): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const { scheduler } = await client.perform("GET /control/status", {});
  if (!isSure && scheduler.running > 0) {
    const runs = counted(scheduler.running, "running run");
    await mustConfirm(await openPrompts(context), {
      question: `Kill ${runs} of all agents?`,
      why: `${runs} of all agents would be killed`,
      refused: "no run was killed",
    });
  }
  const answer = await client.perform("POST /control/kill", {});
  const { killed } = answer;
  out.answer(answer, killed === 0 ? "no run is running" : `${counted(killed, "run")} killed`);
}

/** Raises the limits of the project, an agent or one run, and prints the new limits. */
export async function raiseBudget(context: Context, target: string, amount: string): Promise<void> {
  const { out } = context;
  const usd = amountOf(amount);
  const client = await connect(context);
  const { agents } = await readSnapshot(client);
  const names = agents.map(({ name }) => name);
  const scope = scopeOf(target, names);
  const running = agents.find(({ name }) => agentScope(name) === scope)?.running ?? 0;
  // The raise applies to running runs as well, which have limits of their own.
  if (running === 0 && !scope.startsWith(runScope(""))) await mustHaveLimit(client, scope);
  const answer = await client.perform("POST /api/budgets/:scope/raise", { scope, usd });
  out.answer(answer, `the budget of ${target} is raised by ${usdText(nanoOfUsd(usd))}`);
  for (const { window, usd: spent, limit, needed } of answer.limits) {
    if (limit === null) continue;
    const needs = needed === undefined ? "" : `; ${neededText(nanoOfUsd(needed))}`;
    out.data(`${window}  ${usdText(nanoOfUsd(spent))} of ${usdText(nanoOfUsd(limit))}${needs}`);
  }
}

/** Throws a Problem if the project or an agent has no limit that a raise could change. */
async function mustHaveLimit(client: Client, scope: string): Promise<void> {
  const agent = scope === projectScope ? undefined : scope.slice(agentScope("").length);
  const { limits } = await client.perform("GET /api/spend", { by: "day", agent });
  if (limits.some((one) => one.scope === scope && one.limit !== null)) return;
  const [who, where] = agent === undefined ? ["the project", ""] : [`agent ${agent}`, ` ${agent}`];
  throw new Problem(
    "no_limit",
    `${who} has no limit for a day or a month, so nothing was changed`,
    `Set one with \`al config${where} --set budget.day=5\`.`,
  );
}

function amountOf(text: string): number {
  const usd = Number(text.replace(/^\$/, ""));
  if (usd > 0 && usd <= maxRaiseUsd) return usd;
  throw usageError(
    `"${text}" is not an amount`,
    `Give an amount in USD above 0, up to ${maxRaiseUsd}, such as 5 or 0.50.`,
  );
}

/** A scope may also be written as in the API. */
function scopeOf(target: string, agents: readonly string[]): string {
  if (target === projectScope) return target;
  if ([agentScope(""), runScope("")].some((prefix) => target.startsWith(prefix))) return target;
  if (agents.includes(target)) return agentScope(target);
  if (agents.includes(agentOf(target) ?? "")) return runScope(target);
  throw unknownAgent(target, agents);
}

/** Stops the scheduler, and waits for its end. */
export async function stop(context: Context, { now = false }: { now?: boolean }): Promise<void> {
  const { out, projectDir } = context;
  const pidOf = () => readSchedulerInfo(projectDir)?.pid;
  const client = await connect(context);
  const pid = pidOf();
  const answer = await client.perform("POST /control/stop", { now });
  const runs = counted(answer.running, "run");
  const grace = `${runs} may finish within the grace period; al stop --now does not wait …`;
  if (answer.running > 0) out.note(`stopping: ${now ? `${runs} ended …` : grace}`);
  // A different pid means that the next scheduler has started.
  while (pid !== undefined && pidOf() === pid) await sleep(100);
  out.answer(answer, "stopped");
}
