import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { hasCode, messageOf, Problem } from "../../../foundation/errors.ts";
import type { InputOf } from "../../../foundation/operation.ts";
import type { NamedOperations } from "../../operations/table.ts";
import type { StoredOperations, StoredStatus } from "../../operations/stored-project.ts";
import { gatheringText } from "../../views/agent-columns.ts";
import type { Context } from "../context.ts";
import type { Client } from "./client.ts";
import { connect, isNotRunning, noProject, readSnapshot, unknownAgent } from "./connect.ts";

/** Queries that a scheduler answers, or without one the project's store. */
export type ProjectReader = ReturnType<typeof schedulerReader>;

/**
 * Asks the scheduler of the project. If no scheduler runs, the store is read, with a note on standard error. Throws
 * Problem `not_running` if the store is missing, too.
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
  // Only without a scheduler: config and store take long to load.
  const { homeDir } = await import("../../../foundation/credentials/read-secret.ts");
  const { openStoredProject } = await import("../../operations/stored-project.ts");
  const stored = openStoredProject({ projectDir, home: homeDir(env) });
  if (stored === null) throw notRunning;
  try {
    out.note("no scheduler is running; read from the project's store");
    return await ask(stored);
  } finally {
    stored.close();
  }
}

function schedulerReader(client: Client) {
  return {
    /** `scheduler` is null if the store answers. */
    status: (): Promise<StatusSnapshot | StoredStatus> => readSnapshot(client),
    perform: <Address extends keyof StoredOperations & keyof NamedOperations>(
      address: Address,
      input: InputOf<NamedOperations[Address]>,
    ) => client.perform<Address>(address, input),
    agentNames: async (): Promise<readonly string[]> =>
      (await readSnapshot(client)).agents.map(({ name }) => name),
  };
}

/** A removed agent may have history; an unknown one without any never existed. */
export async function mustKnowAgent(reader: ProjectReader, agent: string): Promise<void> {
  const known = await reader.agentNames();
  if (!known.includes(agent)) throw unknownAgent(agent, known);
}

type Question<T> = (reader: ProjectReader, instanceId: string) => Promise<T>;

/** The answer for the run with that name, or else for the latest run of the agent with that name. */
export function askRun<T>(context: Context, name: string, question: Question<T>): Promise<T> {
  return askProject(context, async (reader) => {
    try {
      return await question(reader, name);
    } catch (error) {
      if (!hasCode(error, "unknown_instance")) throw error;
      await noteGathering(reader, name, context.out);
      const latest = await latestRun(reader, name);
      if (latest !== null && latest !== name) return question(reader, latest);
      const names = await reader.agentNames();
      const list = "List the runs and their IDs with `al history`.";
      const hint = names.includes(name)
        ? `See why with \`al history --agent ${name}\`.`
        : meantOr(name, names, list);
      const message = names.includes(name)
        ? `agent "${name}" has no run among its latest 200 history entries`
        : messageOf(error);
      throw new Problem("unknown_instance", message, { hint, cause: error });
    }
  });
}

/** The next run of the agent may have stored deliveries already. */
async function noteGathering(reader: ProjectReader, name: string, out: Context["out"]) {
  const agent = (await reader.status()).agents.find((one) => one.name === name);
  const text = agent === undefined ? null : gatheringText(agent, Date.now());
  if (text !== null) out.note(`${name} is ${text}`);
}

/** Null for an unknown agent, or one that has never run. */
async function latestRun(reader: ProjectReader, agent: string): Promise<string | null> {
  const { triggers } = await reader.perform("GET /api/stats/triggers", { agent, limit: 200 });
  return triggers.find(({ instanceId }) => instanceId !== null)?.instanceId ?? null;
}
