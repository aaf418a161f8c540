import { createRunAuthority } from "./run-authority.ts";
import type { RunAuthority } from "./run-authority.ts";

/** How many authorities are stored: those of the latest runs; any other is made again. */
const stored = 64;

/** The authorities of runs, made when they are first needed. */
export function createAuthorities(
  projectKey: () => string,
  now: () => number,
): (instanceId: string) => Promise<RunAuthority> {
  const recent = new Map<string, Promise<RunAuthority>>();
  return (instanceId) => {
    const authority =
      recent.get(instanceId) ?? createRunAuthority({ projectKey: projectKey(), instanceId, now });
    recent.delete(instanceId);
    recent.set(instanceId, authority);
    const [oldest] = recent.keys();
    if (recent.size > stored && oldest !== undefined) recent.delete(oldest);
    return authority;
  };
}
