import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allowedHosts } from "../../../../../src/foundation/contracts/network-allow.ts";
import { createIntercept } from "../../../../../src/runtime/run-api/egress/broker/intercept.ts";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import type { SocketOfRun } from "../../support.ts";
import { connectTo, egressSide, forward, getThrough, tlsOver } from "../support.ts";
import type { EgressSide } from "../support.ts";

const host = "api.allowed.test";
const secret = `ghp_${"R3al".repeat(9)}`;
const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const bindings = [{ sentinel, secret, hosts: [host] }];
const authorization = { authorization: `Bearer ${sentinel}` };
const ownAuthorities = getCACertificates("default");

let side: EgressSide;
let run: SocketOfRun;
let ca: string;
beforeEach(async () => {
  const authority = await createRunAuthority("6b".repeat(32), "dev-1");
  ca = authority.certificate([host]);
  const contextFor = (_instanceId: string, name: string) =>
    Promise.resolve(authority.contextFor(name));
  side = await egressSide({ intercept: createIntercept(contextFor) });
  setDefaultCACertificates([...ownAuthorities, side.hosts.ca]);
  side.allow([host, "other.test", `${host}:80`], { bindings });
  run = await side.open("dev-1");
});
afterEach(async () => {
  setDefaultCACertificates(ownAuthorities);
  await side.close();
});

const seenHeaders = () => side.hosts.seen.map(({ headers }) => headers.authorization);

test("a tunnel to the host of a secret is opened, and its request has the secret", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const answer = await getThrough(socket, `https://${host}/`, { ca, headers: authorization });
  expect(answer).toMatchObject({ status: 200, body: `hello from ${host}` });
  expect(seenHeaders()).toEqual([`Bearer ${secret}`]);
  await side.reported(1);
  expect(side.attempts[0]).toMatchObject({ host, denied: null });
});

test("a tunnel to another host is not opened: the run sees the host's own certificate and sends no secret", async () => {
  const { socket } = await connectTo(run, "other.test:443");
  const trusted = { ca: side.hosts.ca, headers: authorization };
  expect(await getThrough(socket, "https://other.test/", trusted)).toMatchObject({ status: 200 });
  expect(seenHeaders()).toEqual([`Bearer ${sentinel}`]);
});

test("a sentinel in a tunnel is reported, and the connection counted", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const answer = await getThrough(socket, `https://${host}/?token=${sentinel}`, { ca });
  expect(answer.status).toBe(403);
  expect(side.hosts.seen).toEqual([]);
  await side.reported(2);
  expect(side.attempts[0]).toMatchObject({ host, denied: "sentinel", agent: "dev" });
  expect(side.attempts[0]?.detail).toContain("the address of the request");
});

test("the end of a run cuts its opened tunnels", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const secured = tlsOver(socket, host, ca);
  await new Promise((resolve) => secured.once("secureConnect", resolve));
  const closed = new Promise((resolve) => secured.once("close", resolve));
  await side.egress.close();
  await closed;
});

describe("a sentinel in a request without TLS is refused", () => {
  test.each([
    ["in a header", "/", { headers: authorization }],
    ["in a login", "/", { headers: { authorization: `Basic ${btoa(`x:${sentinel}`)}` } }],
    ["in the address", `/?a=${sentinel}`, {}],
    ["in the body", "/", { method: "POST", body: `a=${sentinel}` }],
  ])("%s", async (_where, path, options) => {
    const answer = await forward(run, `http://${host}${path}`, options);
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.body).toContain("would have been sent what stands for a secret (in the ");
    expect(
      JSON.stringify(side.hosts.seen.map(({ rawHeaders, url }) => [url, rawHeaders])),
    ).not.toContain("AlSentinel");
    await expect.poll(() => side.attempts.at(-1)?.denied).toBe("sentinel");
  });
});

test("the allow list applies to hosts of secrets too", async () => {
  side.allow([], { bindings, allow: allowedHosts(["other.test"]) });
  const { status, phrase } = await connectTo(run, `${host}:443`);
  expect({ status, phrase }).toEqual({ status: 403, phrase: `${host} is not in [network].allow` });
});
