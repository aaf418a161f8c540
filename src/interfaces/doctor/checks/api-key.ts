import { findApiKey, ensureApiKey } from "../../../foundation/credentials/api-key.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Check } from "../finding.ts";
import { ofError, ok } from "../finding.ts";

/** Whether the gateway's API key is there and can be used. Who else can read it is part of the permissions. */
export const apiKey: Check = {
  name: "api key",
  run: async ({ home }) => {
    try {
      const found = await findApiKey(home);
      if (found !== null) return [ok(found.path)];
      const repair = async () => {
        await ensureApiKey(home);
      };
      const what = "there is no API key for the gateway yet";
      return [{ severity: "warning", what, where: home, fix: "al doctor", repair }];
    } catch (error) {
      if (error instanceof UserError && error.code === "unsafe_credential") return [];
      return [{ ...ofError(error, "error", null), fix: "al doctor --regenerate-key" }];
    }
  },
};
