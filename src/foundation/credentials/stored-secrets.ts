import { findApiKey } from "./api-key.ts";
import { secretsOf } from "./credential-types.ts";
import { listCredentials } from "./list-credentials.ts";
import { loadCredential } from "./load-credential.ts";

/** All secrets of the store in `home` that can be used, the API key among them. Makes none. */
export async function storedSecrets(home: string): Promise<readonly string[]> {
  const apiKey = await findApiKey(home);
  const usable = (await listCredentials(home)).filter(({ problem }) => problem === null);
  const loaded = await Promise.all(usable.map(({ name }) => loadCredential(home, name)));
  return [...(apiKey === null ? [] : [apiKey.key]), ...loaded.flatMap(secretsOf)];
}
