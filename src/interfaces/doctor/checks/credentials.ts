import { secretsOf } from "../../../foundation/credentials/credential-types.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { shortestHidden } from "../../../foundation/contracts/encoded-forms.ts";
import type { Check } from "../finding.ts";
import { note, ofError, ok } from "../finding.ts";
import { enabledAgents } from "../doctor-context.ts";

/** Whether the credentials that agents name are there and whole. */
export const credentials: Check = {
  name: "credentials",
  run: async (context) => {
    const agents = enabledAgents(context);
    const named = [...new Set(agents.flatMap((agent) => agent.credentials))].sort();
    return Promise.all(
      named.map(async (reference) => {
        try {
          const secrets = secretsOf(await loadCredential(context.home, reference));
          const isShort = secrets.some(({ length }) => length < shortestHidden);
          return isShort ? note(tooShort(reference)) : ok(reference);
        } catch (error) {
          const users = agents.filter((agent) => agent.credentials.includes(reference));
          const where = users.map(({ name }) => `agents/${name}/config.toml`).join(", ");
          return ofError(error, "error", where);
        }
      }),
    );
  },
};

function tooShort(reference: string): string {
  return `a secret of ${reference} has fewer than ${shortestHidden} characters and is not taken out of logs`;
}
