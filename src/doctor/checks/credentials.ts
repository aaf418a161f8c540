import { loadCredential } from "../../credentials/load-credential.ts";
import type { Check } from "../finding.ts";
import { ok } from "../finding.ts";
import { enabledAgents } from "../patient.ts";
import { ofError } from "../say.ts";

/** Whether the credentials that agents name are there and whole. */
export const credentials: Check = {
  name: "credentials",
  look: async (patient) => {
    const agents = enabledAgents(patient);
    const named = [...new Set(agents.flatMap((agent) => agent.credentials))].sort();
    return Promise.all(
      named.map(async (reference) => {
        try {
          await loadCredential(patient.home, reference);
          return ok(reference);
        } catch (error) {
          const users = agents.filter((agent) => agent.credentials.includes(reference));
          const where = users.map(({ name }) => `agents/${name}/config.toml`).join(", ");
          return ofError(error, "error", where);
        }
      }),
    );
  },
};
