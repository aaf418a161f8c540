import { schedulesOf } from "../../../../streams/agent-config.ts";
import { readLastRuns } from "../../../features/spend/call-totals.ts";
import type { Budget, ModelConfig } from "../../../../streams/agent-config.ts";
import { harnesses } from "../../../../streams/harnesses.ts";
import { usdOfNano } from "../../../foundation/contracts/money.ts";
import { costAt, worstRates } from "../../../foundation/contracts/price.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import type { ModelTerms } from "../../../foundation/contracts/spend.ts";
import type { SpendForecast } from "../../../features/spend/spend-report.ts";
import { dollars, forecastText } from "../../../features/spend/spend-text.ts";
import { cliFor } from "../../../runtime/harness/llm-cli/clis.ts";
import { modelTerms } from "../../../features/models/prices.ts";
import {
  forecastOf,
  forecastRuns,
  forecastUsd,
  noRuns,
  totalForecast,
} from "../../../features/spend/forecast.ts";
import type { MonthForecast } from "../../../features/spend/forecast.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { agentNames, alCommand, finding, ok, type Check, type Finding } from "../finding.ts";

/** Checks the limits and the forecast of spending: models without a price, no limit at all, a forecast above one. */
export const budget: Check = async (context) => {
  const used = await usedModels(context);
  const unpriced = used.filter(({ terms }) => terms.billing === "unpriced");
  const costs = used.some(({ model, terms }) => model.provider !== "scripted" && isBilled(terms));
  return [
    ...unpriced.map((one) => unpricedFinding(one, context)),
    ...(costs ? noLimit(context) : []),
    ...tooSmall(used, context),
    ...forecasts(context),
    ...withoutPause(context),
  ];
};

interface UsedModel {
  readonly model: ModelConfig;
  readonly terms: ModelTerms;
}

async function usedModels(context: DoctorContext): Promise<readonly UsedModel[]> {
  const models = enabledAgents(context).flatMap((agent) => agent.models);
  const byName = new Map(models.map((model) => [model.name, model]));
  return Promise.all(
    [...byName.values()].map(async (model) => ({ model, terms: await modelTerms(model, model) })),
  );
}

/** A subscription pays its calls, and an own server may cost nothing. */
function isBilled({ billing, price }: ModelTerms): boolean {
  return billing !== "subscription" && price.input + price.output > 0;
}

function unpricedFinding({ model, terms }: UsedModel, context: DoctorContext): Finding {
  const { name, provider, model: id } = model;
  const { input, output } = terms.price;
  if (input + output === 0) return ok(`${name}: has no price and no key; its calls count as free`);
  const whose = provider === "custom" ? "a usual model's" : `the highest price of ${provider}`;
  const price = shellWord(`models.${name}.price={ input = ${input}, output = ${output} }`);
  return finding(
    "warning",
    `${name}: no price of ${provider} ${id} is known; its calls count at ${dollars(input)} per million tokens ` +
      `of input and ${dollars(output)} of output, ${whose}`,
    `config.toml [models.${name}]`,
    `set what it costs (0 for nothing), for example: ${alCommand(context, `config --set ${price}`)}`,
  );
}

/** Agents whose runs can't pay the first request of their command line. */
function tooSmall(used: readonly UsedModel[], context: DoctorContext): readonly Finding[] {
  return enabledAgents(context).flatMap(
    ({ name, harness, budget: { runUsd }, models: [first] }) => {
      const cli = harnesses[harness.type].startsCommand ? cliFor(harness.command) : undefined;
      const terms = used.find(({ model }) => model.name === first?.name)?.terms;
      if (cli === undefined || terms === undefined || runUsd === null || !isBilled(terms))
        return [];
      const { input, output } = cli.firstRequest;
      const rates = worstRates(terms.price, 1, false);
      const tokens = Math.min(output, first?.maxTokens ?? output);
      const needed = usdOfNano(costAt(rates.input, input) + costAt(rates.output, tokens));
      if (needed <= runUsd) return [];
      const enough = Math.ceil(needed * 2);
      const text =
        `no run of ${name} starts its session: the first request of ${cli.program} needs about ${dollars(needed)}, ` +
        `above the limit of ${dollars(runUsd)} a run`;
      const where = `agents/${name}/config.toml [budget]`;
      const fix = alCommand(context, `config ${name} --set budget.run=${enough}`);
      return [finding("error", text, where, fix)];
    },
  );
}

function hasWindow({ dayUsd, monthUsd }: Budget): boolean {
  return dayUsd !== null || monthUsd !== null;
}

/** A run pauses in its session, which an external command line keeps to itself. */
function withoutPause(context: DoctorContext): readonly Finding[] {
  const names = enabledAgents(context)
    .filter(({ budget: { onLimit }, harness }) => {
      return onLimit === "pause" && !harnesses[harness.type].callsModels;
    })
    .map(({ name }) => name);
  if (names.length === 0) return [];
  const runs = `runs of ${agentNames(names)} end at a limit, because their harness can't pause`;
  return [ok(`${runs}; with onLimit = "pause" their waiting work is held`)];
}

/** A limit of single runs does not bound their number. */
function noLimit(context: DoctorContext): readonly Finding[] {
  const { project } = context;
  if (project === null || hasWindow(project.budget)) return [];
  const without = enabledAgents(context).filter((agent) => !hasWindow(agent.budget));
  if (without.length === 0) return [];
  const { runUsd } = project.budget;
  const each = runUsd === null ? "" : `; each run may spend ${dollars(runUsd)}`;
  return [
    finding(
      "warning",
      `agents have no spending limit per day or month${each}`,
      "config.toml [budget]",
      alCommand(context, "config --set budget.month=50"),
    ),
  ];
}

/** The forecast of agents by their schedules and triggers, against their limits. */
function forecasts(context: DoctorContext): readonly Finding[] {
  const { project, projectDir } = context;
  if (project === null) return [];
  const lastRuns = readLastRuns(projectDir, forecastRuns);
  const ofAgents = enabledAgents(context).map((agent) => {
    const runs = lastRuns.get(agent.name) ?? noRuns;
    return { agent, forecast: forecastOf(schedulesOf(agent), runs, Date.now()) };
  });
  const total = totalForecast(ofAgents.map(({ forecast }) => forecast));
  if (total === null) return [];
  const text = forecastText(forecastUsd(total));
  const found = [
    ...ofAgents.map(({ agent, forecast }) => above(agent.name, agent.budget, forecast, context)),
    above(null, project.budget, total, context),
  ];
  return [ok(`agents will cost ${text}`), ...found.filter((one) => one !== null)];
}

const monthDays = 30;

/** Null if the limits suffice for a month of usual runs. `agent` is null for the project. */
function above(
  agent: string | null,
  { dayUsd, monthUsd }: Budget,
  forecast: MonthForecast | null,
  context: DoctorContext,
): Finding | null {
  if (forecast === null) return null;
  const will: SpendForecast = forecastUsd(forecast);
  const limits = [
    { key: "month", usd: monthUsd, days: monthDays },
    { key: "day", usd: dayUsd, days: 1 },
  ];
  const met = limits.find(({ usd, days }) => {
    return usd !== null && usd < (will.monthUsd * days) / monthDays;
  });
  if (met === undefined || met.usd === null) return null;
  const { key, usd, days } = met;
  const enough = Math.ceil((will.p90Usd * days) / monthDays);
  const whose = agent === null ? "all agents" : agent;
  const command = `config ${agent === null ? "" : `${agent} `}--set budget.${key}=${enough}`;
  return finding(
    "warning",
    `${whose} will cost ${forecastText(will)}, above the limit of ${dollars(usd)} a ${key}`,
    agent === null ? "config.toml [budget]" : `agents/${agent}/config.toml [budget]`,
    `let it run less often, or: ${alCommand(context, command)}`,
  );
}
