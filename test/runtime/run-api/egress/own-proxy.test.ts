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

  const host = "api.allowed.test";
  const bypassing = [
    "*",
    ".allowed.test",
    "*.allowed.test",
    "x.test, .test",
    `API.allowed.test:443`,
  ];
  const others = ["", "allowed.test", `${host}:80`, `.${host}`, "pi.allowed.test"];
  test.each<[boolean, host: string, no_proxy: string]>([
    ...bypassing.map((no_proxy): [boolean, string, string] => [false, host, no_proxy]),
    ...others.map((no_proxy): [boolean, string, string] => [true, host, no_proxy]),
    [false, "2001:db8::1", "2001:db8::1"],
    [false, "2001:db8::1", "[2001:db8::1]:443"],
    [true, "10.0.0.1", "10.0.0.1:80"],
  ])("is used (%s) for %s:443 with no_proxy=%s", (isUsed, host, no_proxy) => {
    const proxy = ownProxy({ https_proxy, no_proxy }, "https", { host, port: 443 });
    expect(proxy !== null).toBe(isUsed);
  });
});

test("proxyLogin decodes the user and password of a proxy", () => {
  expect(proxyLogin(new URL("http://user:p%2Dw@proxy.test"))).toBe(`Basic ${btoa("user:p-w")}`);
  expect(proxyLogin(new URL("http://proxy.test"))).toBeNull();
});
