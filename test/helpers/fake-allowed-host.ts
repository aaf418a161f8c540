import type { AllowHostRequest, HostAllowed } from "../../src/foundation/contracts/run-hosts.ts";

/** What allowing a host for an agent would change. */
export function allowedHost(
  agent: string,
  { host, port, private: isPrivate }: Pick<AllowHostRequest, "host" | "port" | "private">,
): Omit<HostAllowed, "written"> {
  const entry = host + (port === 443 ? "" : `:${port}`) + (isPrivate ? " private" : "");
  const file = `agents/${agent}/config.toml`;
  const change = `--- ${file}\n+++ ${file}\n@@ -1 +1,4 @@\n models = ["main"]\n+\n+[network]\n+allow = [ "${entry}" ]\n`;
  return { success: true, agent, entry, file, change };
}
