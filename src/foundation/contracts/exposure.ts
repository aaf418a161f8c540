/** What is wrong with an address to listen on, and what to do about it. */
export interface Exposure {
  readonly what: string;
  readonly advice: string;
}

/** Why others can reach the gateway at this host; null for one that only this machine has. */
export function exposureAt(host: string): Exposure | null {
  if (host === "localhost" || host === "::1" || host.startsWith("127.")) return null;
  return {
    what: `others can reach the gateway at ${host}, and the API key goes over plain HTTP`,
    advice:
      "put a reverse proxy with TLS in front of it (src/interfaces/gateway/README.md, Behind a reverse proxy)",
  };
}
