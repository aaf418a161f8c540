import { forwardProxy, type ForwardProxy } from "../../../helpers/forward-proxy.ts";
import { fakeProvider } from "../../harness/fake-provider.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { connectTo, egressSide, forward, getThrough, type EgressSide } from "./support.ts";

let proxy: ForwardProxy;
let side: EgressSide;
let end: () => Promise<void>;
afterEach(() => end());

/** A scheduler behind a proxy of a company's, which asks for a password and answers itself. */
async function behindProxy(noProxy = "") {
  const provider = await fakeProvider((_request, response) => response.end("from the proxy"));
  proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
  const proxyEnv = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: noProxy };
  side = await egressSide({ proxyEnv });
  side.allow(["models.example.test", "api.allowed.test:80", "127.0.0.1 private"]);
  end = async () => {
    await side.close();
    await Promise.all([provider.close(), proxy.close()]);
  };
  return side.open("dev-1");
}

test("a scheduler behind a proxy opens the tunnels of runs through it, which resolves their names", async () => {
  const run = await behindProxy();
  const { status, socket } = await connectTo(run, "models.example.test:443");
  expect(status).toBe(200);
  const trusted = { ca: testCertificate.cert };
  const { body } = await getThrough(socket, "https://models.example.test/", trusted);
  expect(body).toBe("from the proxy");
  expect(proxy.seen).toEqual(["CONNECT models.example.test:443 user:proxy-pass"]);
  expect([side.hosts.lookups, side.hosts.dialled]).toEqual([[], []]);
});

test("a scheduler behind a proxy forwards plain requests to it with their absolute URL", async () => {
  const run = await behindProxy();
  expect(await forward(run, "http://api.allowed.test/a?b")).toMatchObject({
    body: "from the proxy",
  });
  expect(proxy.seen).toEqual(["GET http://api.allowed.test/a?b user:proxy-pass"]);
});

test("a scheduler behind a proxy still enforces the allow list and the closed addresses", async () => {
  const run = await behindProxy();
  expect(await connectTo(run, "other.test:443")).toMatchObject({ status: 403 });
  expect(await connectTo(run, "127.0.0.1:443")).toMatchObject({ status: 403 });
  expect(side.attempts.map(({ denied }) => denied)).toEqual(["not_allowed", "refused_address"]);
  expect(proxy.seen).toEqual([]);
});

test("a scheduler behind a proxy dials the exceptions of NO_PROXY itself", async () => {
  const run = await behindProxy("api.allowed.test");
  const { body } = await forward(run, "http://api.allowed.test/");
  expect(body).toBe("hello from api.allowed.test");
  expect(proxy.seen).toEqual([]);
});
