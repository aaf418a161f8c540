import { bridgeKey } from "../contracts/bridge-key.ts";
import type { Job, JobNetwork } from "../contracts/job.ts";
import { secretsOf } from "./credential-types.ts";
import { createRedactor } from "./redactor.ts";

/**
 * What takes the secrets of a job, its token included, out of a JSON-like value. The run itself uses it, so that what
 * it writes is clean wherever it is kept on its way.
 */
export function jobRedactor(job: Job): (value: unknown) => unknown {
  const redactor = createRedactor();
  redactor.add(job.credentials.flatMap(secretsOf));
  redactor.add(proxySecrets(job.network));
  if (job.channel !== null) redactor.add([job.channel.token, bridgeKey(job.channel.token)]);
  return redactor.redactValue;
}

/** The passwords of proxies, as they are written in an address and as they are sent. */
export function proxySecrets(network: JobNetwork | undefined): string[] {
  return Object.values(network?.variables ?? {}).flatMap((address) => {
    const password = URL.parse(address)?.password ?? "";
    return password === "" ? [] : [password, decoded(password)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % stands for itself.
    return text;
  }
}
