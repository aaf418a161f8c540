import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import type { InputOf } from "../../../foundation/operation.ts";
import type { NamedOperations } from "../../operations/table.ts";
import type { StoredOperations, StoredStatus } from "../../operations/stored-project.ts";
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
