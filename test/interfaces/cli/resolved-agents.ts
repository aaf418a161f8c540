import { listAgents, readAgent } from "../../../src/foundation/config/agent-files.ts";
import { loadProject } from "../../../src/foundation/config/resolve-project.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import { knownToAgents } from "../../../src/runtime/agents/project-files.ts";
import { filterTable } from "../../../src/features/webhooks/providers/table.ts";

/** Every agent of a project without warnings, as the scheduler would have it. */
export async function resolvedAgents(dir: string) {
  const { project, warnings } = await loadProject(dir, filterTable);
  expect(warnings).toEqual([]);
  const { names } = await listAgents(dir);
  const files = await Promise.all(names.map((name) => readAgent(dir, name)));
  return files
    .filter((each) => each !== null)
    .map((each) => resolveAgent(each, project, knownToAgents()));
}
