import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createIntercept } from "../../../../../src/runtime/run-api/egress/broker/intercept.ts";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import { perTest } from "../../../../helpers/per-test.ts";
import { connectTo, egressSide, getThrough } from "../support.ts";

export const host = "api.allowed.test";
/** Its server has no certificate of this name. */
export const unproven = "unproven.test";
export const secret = `ghp_${"R3al".repeat(9)}`;
export const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const bindings = [{ sentinel, secret, hosts: [host, unproven] }];
export const authorization = { authorization: `Bearer ${sentinel}` };
const ownAuthorities = getCACertificates("default");

/** A run whose tunnels to the hosts of a secret the scheduler opens. */
export function openedTunnels() {
  const made = perTest(
    async () => {
      const authority = await createRunAuthority("6b".repeat(32), "dev-1");
      const contextFor = (_instanceId: string, name: string) =>
        Promise.resolve(authority.contextFor(name));
      const side = await egressSide({ intercept: createIntercept(contextFor) });
      setDefaultCACertificates([...ownAuthorities, side.hosts.ca]);
      side.allow([host, unproven, "other.test", `${host}:80`], { bindings });
      side.hosts.names.set(unproven, side.hosts.names.get(host) ?? []);
      const ca = authority.certificate([host, unproven]);
      return { side, ca, run: await side.open("dev-1") };
    },
    ({ side }) => {
      setDefaultCACertificates(ownAuthorities);
      return side.close();
    },
  );
  const tunnel = async (to = host) => (await connectTo(made().run, `${to}:443`)).socket;
  return {
    made,
    tunnel,
    /** The values of a header of each request that came to a host. */
    headersOf: (name: string) =>
      made().side.hosts.seen.map(({ rawHeaders }) =>
        rawHeaders.filter((_text, index) => rawHeaders[index - 1]?.toLowerCase() === name),
      ),
    /** The answer to a request by a new tunnel. */
    ask: async (
      path = "/",
      more: Partial<Parameters<typeof getThrough>[2]> = { headers: authorization },
    ) => getThrough(await tunnel(), `https://${host}${path}`, { ca: made().ca, ...more }),
  };
}
