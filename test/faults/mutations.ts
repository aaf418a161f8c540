import type { Mutation } from "./mutation.ts";
import { alertSending } from "./mutations/alert-sending.ts";
import { agents } from "./mutations/agents.ts";
import { alertRules } from "./mutations/alert-rules.ts";
import { alertViews } from "./mutations/alert-views.ts";
import { brokering } from "./mutations/brokering.ts";
import { budgets } from "./mutations/budgets.ts";
import { closedRuns } from "./mutations/closed-runs.ts";
import { cluster } from "./mutations/cluster.ts";
import { connections } from "./mutations/connections.ts";
import { costs } from "./mutations/costs.ts";
import { doors } from "./mutations/doors.ts";
import { expectations } from "./mutations/expectations.ts";
import { files } from "./mutations/files.ts";
import { heartbeat } from "./mutations/heartbeat.ts";
import { hostile } from "./mutations/hostile.ts";
import { liveOutputs } from "./mutations/live-output.ts";
import { load } from "./mutations/load.ts";
import { login } from "./mutations/login.ts";
import { models } from "./mutations/models.ts";
import { network } from "./mutations/network.ts";
import { search } from "./mutations/search.ts";
import { refusals } from "./mutations/refusals.ts";
import { runPages } from "./mutations/run-pages.ts";
import { overviews } from "./mutations/overview.ts";
import { spend } from "./mutations/spend.ts";
import { starts } from "./mutations/starts.ts";
import { store } from "./mutations/store.ts";

/** Every defence that a test has been seen to hold. */
export const mutations: readonly Mutation[] = [
  ...doors,
  ...connections,
  ...login,
  ...agents,
  ...alertSending,
  ...brokering,
  ...models,
  ...budgets,
  ...search,
  ...spend,
  ...starts,
  ...store,
  ...files,
  ...hostile,
  ...liveOutputs,
  ...load,
  ...costs,
  ...network,
  ...cluster,
  ...closedRuns,
  ...alertViews,
  ...heartbeat,
  ...alertRules,
  ...expectations,
  ...runPages,
  ...overviews,
  ...refusals,
];
