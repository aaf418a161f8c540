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
import type { BudgetRaised } from "../../../features/spend/spend-report.ts";
import { UserError } from "../../../foundation/errors.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { readSchedulerInfo } from "../../../foundation/store/project-lock.ts";
import type { Context } from "../context.ts";
import { agentNames, connect, explained, unknownAgent, withAgent } from "./connect.ts";

/** Stops cron for the whole project, or disables one agent. */
export async function pause(context: Context, agent: string | undefined): Promise<void> {
  if (agent !== undefined) {
    return changeAgent(context, agent, "disable", `disabled until al resume ${agent}`);
  }
  await change(context, "pause", "paused: cron jobs are skipped until al resume");
}

/** Resumes cron for the whole project, or enables one agent. */
export async function resume(context: Context, agent: string | undefined): Promise<void> {
  if (agent !== undefined) return changeAgent(context, agent, "enable", "enabled");
  await change(context, "resume", "resumed: cron jobs run again");
}

async function change(context: Context, operation: string, text: string): Promise<void> {
  const client = await connect(context);
  context.out.answer(await client.post(`/control/${operation}`), text);
}

async function changeAgent(
  context: Context,
  agent: string,
  operation: string,
  state: string,
): Promise<void> {
  const client = await connect(context);
  const path = `/control/agents/${encodeURIComponent(agent)}/${operation}`;
  const answer = await withAgent(client, agent, client.post(path));
  context.out.answer(answer, `${agent} is ${state}`);
}

/** Ends the running runs of an agent, or one run. */
export async function kill(context: Context, target: string): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const names = await agentNames(client);
  if (names.includes(target)) {
    const answer = await client.post(`/control/agents/${encodeURIComponent(target)}/kill`);
    const { killed } = answer as { killed: number };
    const text = `${counted(killed, "run")} of ${target} killed`;
    return out.answer(answer, killed === 0 ? `${target} has no running runs` : text);
  }
  const agent = agentOf(target);
  if (agent === null || !names.includes(agent)) {
    const isRun = agent !== null && closest(target, names) === null;
    throw unknownAgent(isRun ? agent : target, names);
  }
  const asked = client.post(`/control/kill/${encodeURIComponent(target)}`);
  const answer = await explained(asked, ["unknown_instance"], {
    message: `no run ${target} is running`,
    hint: "al history shows how it ended",
  });
  out.answer(answer, `${target} killed`);
}

/** Raises the limits of the project, an agent or one run, and prints the new limits. */
export async function raiseBudget(context: Context, target: string, amount: string): Promise<void> {
  const { out } = context;
  const usd = amountOf(amount);
  const client = await connect(context);
  const scope = scopeOf(target, await agentNames(client));
  const path = `/api/budgets/${encodeURIComponent(scope)}/raise`;
  const answer = (await client.post(path, { usd })) as BudgetRaised;
  out.answer(answer, `the budget of ${target} is raised by ${usdText(nanoOfUsd(usd))}`);
  for (const { window, usd: spent, limit, needed } of answer.limits) {
    if (limit === null) continue;
    const needs = needed === undefined ? "" : `; ${neededText(nanoOfUsd(needed))}`;
    out.data(`${window}  ${usdText(nanoOfUsd(spent))} of ${usdText(nanoOfUsd(limit))}${needs}`);
  }
}

function amountOf(text: string): number {
  const usd = Number(text.replace(/^\$/, ""));
  if (usd > 0 && usd <= maxRaiseUsd) return usd;
  const hint = `expected an amount of USD above 0, up to ${maxRaiseUsd}, such as 5 or 0.50`;
  throw new UserError("usage", `${text} is not an amount`, hint);
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
  const answer = (await client.post("/control/stop", { now })) as { readonly running: number };
  const runs = counted(answer.running, "run");
  const grace = `${runs} may finish within the grace period; al stop --now does not wait …`;
  if (answer.running > 0) out.note(`stopping: ${now ? `${runs} ended …` : grace}`);
  // Another pid is already that of the next scheduler.
  while (pid !== undefined && pidOf() === pid) await sleep(100);
  out.answer(answer, "stopped");
}
