import { proxyLogin } from "../../../../src/runtime/wire/http-proxy.ts";
import { ownProxy } from "../../../../src/runtime/run-api/egress/admit.ts";

const https_proxy = "http://proxy.test:3128";
const asked = { host: "api.allowed.test", port: 443 };

describe("the proxy that the scheduler uses", () => {
  test("is read from variables in lower or upper case, by scheme", () => {
    const env = { HTTPS_PROXY: "http://a.test:1", HTTP_PROXY: "http://b.test:2" };
    expect(ownProxy(env, "https", asked)?.host).toBe("a.test:1");
    expect(ownProxy(env, "http", asked)?.host).toBe("b.test:2");
    expect(ownProxy({ ...env, https_proxy }, "https", asked)?.host).toBe("proxy.test:3128");
  });

  test.each(["", "socks5://a.test:1", "a.test"])("is null if HTTPS_PROXY is %j", (other) =>
    expect(ownProxy({ HTTPS_PROXY: other }, "https", asked)).toBeNull(),
  );

  const proxyFor = (host: string, no_proxy: string) =>
    ownProxy({ https_proxy, no_proxy }, "https", { host, port: 443 });

  test.each(["*", ".allowed.test", "*.allowed.test", "x.test, .test", "API.allowed.test:443"])(
    "is bypassed for api.allowed.test with no_proxy=%s",
    (no_proxy) => expect(proxyFor("api.allowed.test", no_proxy)).toBeNull(),
  );

  test.each(["2001:db8::1", "[2001:db8::1]:443"])(
    "is bypassed for 2001:db8::1 with no_proxy=%s",
    (no_proxy) => expect(proxyFor("2001:db8::1", no_proxy)).toBeNull(),
  );

  const others = ", allowed.test api.allowed.test:80 .api.allowed.test pi.allowed.test";
  test.each(others.split(" "))("is used for api.allowed.test with no_proxy=%s", (no_proxy) =>
    expect(proxyFor("api.allowed.test", no_proxy)).not.toBeNull(),
  );

  test("is used for 10.0.0.1:443 with no_proxy=10.0.0.1:80", () =>
    expect(proxyFor("10.0.0.1", "10.0.0.1:80")).not.toBeNull());
});

test("proxyLogin decodes the user and password of a proxy", () => {
  expect(proxyLogin(new URL("http://user:p%2Dw@proxy.test"))).toBe(`Basic ${btoa("user:p-w")}`);
  expect(proxyLogin(new URL("http://proxy.test"))).toBeNull();
});
