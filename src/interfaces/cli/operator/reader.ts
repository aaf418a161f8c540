import type { HistoryPage } from "../../../foundation/contracts/history.ts";
import type { RefusedDeliveriesAnswer } from "../../../foundation/contracts/refused-deliveries.ts";
import type { RunDifference, RunView } from "../../../foundation/contracts/run-view.ts";
import type { WhyNot } from "../../../foundation/contracts/why-not.ts";
import type { SpendAnswer } from "../../../foundation/contracts/spend-report.ts";
import type { Context } from "../context.ts";
import type { Client } from "./client.ts";
import { connect, isNotRunning, noProject, readSnapshot, unknownAgent } from "./connect.ts";
import type { ProjectReader } from "./project-reader.ts";

/**
 * Asks the scheduler of the project. Where none runs its store is read, with a note on standard error. Throws UserError
 * `not_running` where there is no store either.
 */
export async function askProject<T>(
  context: Context,
  ask: (reader: ProjectReader) => Promise<T>,
): Promise<T> {
  try {
    return await ask(schedulerReader(await connect(context)));
  } catch (error) {
    if (!isNotRunning(error) || noProject(context.projectDir) !== null) throw error;
    return askStore(context, ask, error);
  }
}

async function askStore<T>(
  { projectDir, env, out }: Context,
  ask: (reader: ProjectReader) => Promise<T>,
  notRunning: unknown,
): Promise<T> {
  // With it come the config and the store, which a running scheduler has.
  const { openStoredReader } = await import("./stored-reader.ts");
  const stored = openStoredReader(projectDir, env);
  if (stored === null) throw notRunning;
  try {
    out.note("no scheduler is running; read from the project's store");
    return await ask(stored);
  } finally {
    stored.close();
  }
}

function schedulerReader(client: Client): ProjectReader {
  const ofRun = (instanceId: string): string => `/api/runs/${encodeURIComponent(instanceId)}`;
  return {
    status: () => readSnapshot(client),
    history: async (query) =>
      (await client.get(`/api/stats/triggers?${queryText(query)}`)) as HistoryPage,
    refusedDeliveries: async (query) => {
      const path = `/api/stats/refused-deliveries?${queryText(query)}`;
      return ((await client.get(path)) as RefusedDeliveriesAnswer).deliveries;
    },
    whyNot: async (agent, query) => {
      const path = `/api/agents/${encodeURIComponent(agent)}/why-not?${queryText(query)}`;
      return (await client.get(path)) as WhyNot;
    },
    run: async (instanceId) => (await client.get(ofRun(instanceId))) as RunView,
    runDifference: async (instanceId, other) => {
      const query = other === null ? "" : `?${new URLSearchParams({ to: other }).toString()}`;
      return (await client.get(`${ofRun(instanceId)}/diff${query}`)) as RunDifference;
    },
    spend: async (query) => (await client.get(`/api/spend?${queryText(query)}`)) as SpendAnswer,
    agentNames: async () => (await readSnapshot(client)).agents.map(({ name }) => name),
  };
}

/** As the routes take it; what is undefined is left out. */
function queryText(query: object): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.toString();
}

/** An agent that is gone may have left something; one that left nothing and is unknown was never there. */
export async function mustKnowAgent(reader: ProjectReader, agent: string): Promise<void> {
  const known = await reader.agentNames();
  if (!known.includes(agent)) throw unknownAgent(agent, known);
}
