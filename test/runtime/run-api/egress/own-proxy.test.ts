import { proxyLogin } from "../../../../src/runtime/run-api/http-proxy.ts";
import { ownProxy } from "../../../../src/runtime/run-api/egress/admit.ts";

const https_proxy = "http://proxy.test:3128";
const asked = { host: "api.allowed.test", port: 443 };

describe("the scheduler's own proxy", () => {
  test("is that of the scheme, in lower or upper case", () => {
    const env = { HTTPS_PROXY: "http://a.test:1", HTTP_PROXY: "http://b.test:2" };
    expect(ownProxy(env, "https", asked)?.host).toBe("a.test:1");
    expect(ownProxy(env, "http", asked)?.host).toBe("b.test:2");
    expect(ownProxy({ ...env, https_proxy }, "https", asked)?.host).toBe("proxy.test:3128");
  });

  test.each(["", "socks5://a.test:1", "a.test"])("is not %j", (other) =>
    expect(ownProxy({ HTTPS_PROXY: other }, "https", asked)).toBeNull(),
  );

  test.each([
    ["*", "api.allowed.test", false],
    [".allowed.test", "api.allowed.test", false],
    ["*.allowed.test", "api.allowed.test", false],
    ["x.test, .test", "api.allowed.test", false],
    ["API.allowed.test:443", "api.allowed.test", false],
    ["2001:db8::1", "2001:db8::1", false],
    ["[2001:db8::1]:443", "2001:db8::1", false],
    [",", "api.allowed.test", true],
    ["allowed.test", "api.allowed.test", true],
    ["api.allowed.test:80", "api.allowed.test", true],
    [".api.allowed.test", "api.allowed.test", true],
    ["pi.allowed.test", "api.allowed.test", true],
    ["10.0.0.1:80", "10.0.0.1", true],
  ])("with the exceptions %j is used for %s: %s", (no_proxy, host, isUsed) => {
    const proxy = ownProxy({ https_proxy, no_proxy }, "https", { host, port: 443 });
    expect(proxy !== null).toBe(isUsed);
  });
});

test("a proxy gets its user and password decoded", () => {
  expect(proxyLogin(new URL("http://user:p%2Dw@proxy.test"))).toBe(`Basic ${btoa("user:p-w")}`);
  expect(proxyLogin(new URL("http://proxy.test"))).toBeNull();
});
