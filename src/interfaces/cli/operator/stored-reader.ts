import { OperationError } from "../../../foundation/contracts/operations.ts";
import { homeDir } from "../../../foundation/credentials/home-dir.ts";
import { UserError } from "../../../foundation/errors.ts";
import { openStoredProject } from "../../operations/stored-project.ts";
import type { ProjectReader } from "./project-reader.ts";

/** The project's files and store as a reader; null where there is no store. */
export function openStoredReader(
  projectDir: string,
  env: NodeJS.ProcessEnv,
): (ProjectReader & { readonly close: () => void }) | null {
  const stored = openStoredProject({ projectDir, home: homeDir(env) });
  if (stored === null) return null;
  return {
    status: () => stored.status(),
    history: (query) => Promise.resolve(stored.history({ ...query, page: 1 })),
    refusedDeliveries: (query) => Promise.resolve(stored.refusedDeliveries(query)),
    whyNot: (agent, query) => explained(stored.whyNot(agent, query)),
    run: (instanceId) => explained(stored.run(instanceId)),
    runDifference: (instanceId, other) => explained(stored.runDifference(instanceId, other)),
    spend: (query) => stored.spend(query),
    agentNames: () => stored.agentNames(),
    close: () => stored.close(),
  };
}

/** The same error that the scheduler's problem document would be. */
async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new UserError(error.code, error.message, { cause: error });
  }
}
