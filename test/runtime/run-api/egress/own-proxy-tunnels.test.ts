import { forwardProxy } from "../../../helpers/forward-proxy.ts";
import { fakeProvider } from "../../harness/fake-provider.ts";
import { testCertificate } from "../../../helpers/certificate.ts";
import { connectTo, egressSide, forward, getThrough } from "./support.ts";

/** A scheduler behind a proxy of a company's, which asks for a password and answers itself. */
async function behindProxy(noProxy = "") {
  const provider = await fakeProvider((_request, response) => response.end("from the proxy"));
  const proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
  const { url, seen } = proxy;
  const proxyEnv = { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: noProxy };
  const side = await egressSide({ proxyEnv });
  side.allow(["models.example.test", "api.allowed.test:80", "127.0.0.1 private"]);
  onTestFinished(async () => {
    await side.close();
    await Promise.all([provider.close(), proxy.close()]);
  });
  return { side, seen, run: await side.open("dev-1") };
}

describe("a scheduler behind a proxy", () => {
  test("opens the tunnels of runs through that proxy, which resolves host names", async () => {
    const { side, seen, run } = await behindProxy();
    const { socket } = await connectTo(run, "models.example.test:443");
    const trusted = { ca: testCertificate.cert };
    const { body } = await getThrough(socket, "https://models.example.test/", trusted);
    expect(body).toBe("from the proxy");
    expect(seen).toEqual(["CONNECT models.example.test:443 user:proxy-pass"]);
    expect([side.hosts.lookups, side.hosts.dialled]).toEqual([[], []]);
  });

  test("forwards plain HTTP requests to that proxy with the absolute URL", async () => {
    const { seen, run } = await behindProxy();
    const { body } = await forward(run, "http://api.allowed.test/a?b");
    expect(body).toBe("from the proxy");
    expect(seen).toEqual(["GET http://api.allowed.test/a?b user:proxy-pass"]);
  });

  test("still enforces the allow list and rejects private addresses", async () => {
    const { side, seen, run } = await behindProxy();
    await connectTo(run, "other.test:443");
    await connectTo(run, "127.0.0.1:443");
    expect(side.attempts.map(({ denied }) => denied)).toEqual(["not_allowed", "refused_address"]);
    expect(seen).toEqual([]);
  });

  test("connects to hosts in NO_PROXY directly", async () => {
    const { seen, run } = await behindProxy("api.allowed.test");
    const { body } = await forward(run, "http://api.allowed.test/");
    expect(body).toBe("hello from api.allowed.test");
    expect(seen).toEqual([]);
  });
});
