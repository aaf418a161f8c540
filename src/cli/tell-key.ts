import { ensureApiKey, regenerateApiKey } from "../credentials/api-key.ts";
import { homeDir } from "../credentials/home-dir.ts";
import { UserError } from "../errors.ts";
import type { Context } from "./context.ts";

export interface KeyOptions {
  readonly check?: true;
  readonly showKey?: true;
  readonly regenerateKey?: true;
}

/** Shows the gateway's API key, or makes another one. A running scheduler takes it up by itself. */
export async function tellKey(
  { out, env }: Omit<Context, "projectDir">,
  { check, showKey, regenerateKey }: KeyOptions,
): Promise<void> {
  if (check && regenerateKey) {
    throw new UserError("usage", "--check changes nothing, and --regenerate-key does", {
      exitCode: 2,
    });
  }
  const { key, path } = await (regenerateKey ? regenerateApiKey : ensureApiKey)(homeDir(env));
  if (out.json) return out.document({ path, ...(showKey ? { key } : {}) });
  if (showKey) out.data(key);
  else out.data(`new API key in ${path}; sessions and streams of the old one are over`);
}
